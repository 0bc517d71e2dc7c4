package answers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// Why there is no answer: the model had nothing to say, or was ended before it said it.
var (
	errNothingSaid = errors.New(nothingSaid)
	errNoAnswer    = errors.New("there was no answer")
)

// withOutcome says of such an error what it leads to.
func withOutcome(outcome string, err error) error {
	if errors.Is(err, errNothingSaid) || errors.Is(err, errNoAnswer) {
		return fmt.Errorf("%s: %w", outcome, err)
	}
	return err
}

// ask adds the user's message and lets the model answer. A message that got no
// answer is taken back.
func (c *chatLoop) ask(ctx context.Context, text string) error {
	c.add(chat.Message{Role: chat.User, Content: flagset.WithMedia(c.shown, text)})
	c.shown = nil
	return withOutcome("your message was removed", c.answer(ctx))
}

// answer lets the model speak, and the user return what its tool calls ask for,
// until it has no more to say.
func (c *chatLoop) answer(ctx context.Context) error {
	for {
		message, err := c.generate(ctx)
		if err == nil && isEmpty(message) {
			err = errNoAnswer
		}
		if err != nil {
			c.undo()
			return err
		}
		c.add(message)
		if len(message.ToolCalls) == 0 {
			return nil
		}
		if err := c.returnResults(ctx, message.ToolCalls); err != nil {
			c.undo()
			if errors.Is(err, terminal.ErrInterrupted) || errors.Is(err, io.EOF) {
				c.note("removed: without a result the model cannot continue")
				return nil
			}
			return err
		}
	}
}

func isEmpty(m chat.Message) bool { return len(m.ToolCalls) == 0 && m.Content.String() == "" }

// generate prints an answer and returns it as a message. One that Ctrl-C
// stopped is kept as far as it came.
func (c *chatLoop) generate(ctx context.Context) (message chat.Message, err error) {
	options := c.sampling.Options()
	answering, release := c.env.Interrupts.Context(ctx)
	defer release()
	defer terminal.HideTyping(c.env.In)() // what is typed ahead comes after the answer
	progress, done := prefillProgress(c.env.Err)
	options.Prefill, options.Forget, options.Forgot = progress, !c.keepAll, c.tellForgotten
	defer done()
	printer := &textPrinter{env: c.env, tok: c.model.Tokenizer(), styles: c.styles, maxTokens: options.MaxTokens,
		full: fullContext(c.session.Context(), c.model.Info().MaxContext)}
	var answer collector
	for event, eventErr := range c.session.Chat(answering, c.conversation, options) {
		done()
		if eventErr != nil {
			err = eventErr
			break
		}
		answer.take(event)
		if err = printer.event(event); err != nil {
			break
		}
	}
	err = errors.Join(err, printer.finish())
	if answer.inCall {
		c.env.Say(cutInCall)
	}
	if c.styles != (terminal.Styles{}) {
		c.env.Say("") // a line between an answer and the next prompt
	}
	if err != nil && answering.Err() != nil && ctx.Err() == nil {
		c.note("stopped")
		return answer.partial(), nil
	}
	if err != nil {
		return message, err
	}
	c.usage = answer.usage
	c.tellFull()
	if c.verbose {
		reportUsage(c.env, c.usage)
		c.env.Say("context  %d of %d tokens", c.session.Len(), c.session.Context())
	}
	return answer.message(), answer.nothing()
}

// collector makes a message of events.
type collector struct {
	text, thinking strings.Builder
	calls          []chat.ToolCall
	usage          gemma4.Usage
	said           bool // a word, or a call
	reason         chat.Reason
	inCall         bool // it was cut within a call
}

func (a *collector) take(e gemma4.Event) {
	switch e.Kind {
	case chat.TextEvent, chat.MalformedEvent:
		a.text.WriteString(e.Text)
	case chat.ThinkingEvent:
		a.thinking.WriteString(e.Text)
	case chat.CallEvent:
		a.calls = append(a.calls, e.Call)
	}
	if e.Usage != nil {
		a.usage = *e.Usage
	}
	a.said = a.said || e.Speaks()
	a.reason, a.inCall = e.Reason, e.InCall
}

func (a *collector) message() chat.Message {
	return chat.Message{Role: chat.Assistant, Content: chat.Text(a.text.String()), Reasoning: a.thinking.String(),
		ToolCalls: a.calls}
}

// nothing is an error where the model ended its answer before it said a word.
func (a *collector) nothing() error {
	if a.said || a.reason != chat.ReasonStop {
		return nil
	}
	return errNothingSaid
}

// partial is the message without calls: nobody will answer them.
func (a *collector) partial() chat.Message {
	return chat.Message{Role: chat.Assistant, Content: chat.Text(a.text.String())}
}

// returnResults asks the user what each call returns.
func (c *chatLoop) returnResults(ctx context.Context, calls []chat.ToolCall) error {
	for _, call := range calls {
		text, err := c.input.Read(ctx, fmt.Sprintf(resultPrompt, call.Name))
		if err != nil {
			return err
		}
		c.add(chat.Message{Role: chat.ToolRole, ToolCallID: call.ID, Name: call.Name, Content: toolResult(text)})
	}
	return nil
}

// toolResult is an object if that was typed, and a text otherwise.
func toolResult(text string) chat.Content {
	if raw := []byte(strings.TrimSpace(text)); len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		return chat.JSON(raw)
	}
	return chat.Text(text)
}

func (c *chatLoop) add(m chat.Message) {
	c.conversation.Messages = append(c.conversation.Messages, m)
}

// lastUser is the index of the last user message, or -1.
func (c *chatLoop) lastUser() int {
	for i, m := range slices.Backward(c.conversation.Messages) {
		if m.Role == chat.User {
			return i
		}
	}
	return -1
}

// undo takes back the last user message and all that came of it.
func (c *chatLoop) undo() bool {
	i := c.lastUser()
	if i < 0 {
		return false
	}
	c.conversation.Messages = c.conversation.Messages[:i]
	return true
}
