package conversation

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
)

// A Conversation is what was said in a session. It is for one goroutine at a time.
type Conversation struct {
	// Options are those of the next prompts: tools, thinking.
	Options chat.Options

	session  *gemma4.Session
	messages []chat.Message
}

// New begins a conversation in a session, which stays the caller's to close. The
// messages, often a system prompt, begin it.
func New(session *gemma4.Session, messages ...chat.Message) *Conversation {
	return &Conversation{session: session, messages: slices.Clone(messages)}
}

// Messages is what was said so far. The slice is the caller's.
func (c *Conversation) Messages() []chat.Message { return slices.Clone(c.messages) }

// Append adds messages that need no answer yet.
func (c *Conversation) Append(messages ...chat.Message) {
	c.messages = append(c.messages[:len(c.messages):len(c.messages)], messages...)
}

// SetSystem begins the conversation with a system prompt in place of the one before. An
// empty one takes it away.
func (c *Conversation) SetSystem(text string) {
	rest := c.messages
	if len(rest) > 0 && rest[0].Role == chat.System {
		rest = rest[1:]
	}
	if text != "" {
		rest = append([]chat.Message{{Role: chat.System, Content: chat.Text(text)}}, rest...)
	}
	c.messages = rest
}

// Reset forgets everything that was said.
func (c *Conversation) Reset() error {
	c.messages = nil
	return c.session.Reset()
}

// Say goes on: the user says text about the media before it, images and clips, and the
// model answers. Media want an encoder: see multimodal.Attach.
func (c *Conversation) Say(ctx context.Context, text string, opts gemma4.GenerateOptions,
	media ...chat.Part) iter.Seq2[gemma4.Event, error] {
	content := chat.Text(text)
	if len(media) > 0 {
		parts := slices.Clone(media)
		if text != "" {
			parts = append(parts, chat.Part{Type: chat.TextPart, Text: text})
		}
		content = chat.Parts(parts...)
	}
	return c.Send(ctx, []chat.Message{{Role: chat.User, Content: content}}, opts)
}

// Send goes on with messages of any role, such as the results of tools, and the model
// answers.
//
// The sequence is Session.Chat's. An answer that was cancelled, or whose loop was left,
// stays in the conversation with the part that came; after another error the
// conversation is as it was before.
func (c *Conversation) Send(ctx context.Context, messages []chat.Message,
	opts gemma4.GenerateOptions) iter.Seq2[gemma4.Event, error] {
	return func(yield func(gemma4.Event, error) bool) {
		asked := append(c.messages[:len(c.messages):len(c.messages)], messages...)
		var answer gathered
		for event, err := range c.session.Chat(ctx, chat.Conversation{Messages: asked, Options: c.Options}, opts) {
			if err != nil {
				if ctx.Err() != nil {
					c.messages = append(asked, answer.message())
				}
				yield(gemma4.Event{}, err)
				return
			}
			answer.take(event)
			if !yield(event, nil) {
				break
			}
		}
		c.messages = append(asked, answer.message())
	}
}

// gathered is what came of an answer.
type gathered struct {
	text, thoughts strings.Builder
	calls          []chat.ToolCall
}

func (g *gathered) take(e gemma4.Event) {
	switch e.Kind {
	case chat.TextEvent:
		g.text.WriteString(e.Text)
	case chat.ThinkingEvent:
		g.thoughts.WriteString(e.Text)
	case chat.CallEvent:
		g.calls = append(g.calls, e.Call)
	}
}

// message is the answer as a message.
func (g *gathered) message() chat.Message {
	m := chat.Message{Role: chat.Assistant, Reasoning: g.thoughts.String(), ToolCalls: g.calls}
	if g.text.Len() > 0 || len(g.calls) == 0 {
		m.Content = chat.Text(g.text.String())
	}
	return m
}
