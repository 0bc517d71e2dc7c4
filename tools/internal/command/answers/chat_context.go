package answers

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

// used is how many tokens of the context the conversation takes, computed or not:
// the system prompt, tools, messages that are not left out, and what is attached to the
// next one.
func (c *chatLoop) used(ctx context.Context) (int, error) {
	conversation := c.conversation
	conversation.Options.NoGenerationPrompt = true
	if len(c.shown) > 0 {
		conversation.Messages = append(conversation.Messages[:len(conversation.Messages):len(conversation.Messages)],
			chat.Message{Role: chat.User, Content: flagset.WithMedia(c.shown, "")})
	}
	if c.keepAll {
		prompt, err := c.session.EncodeChat(ctx, conversation)
		return len(prompt.Tokens), err
	}
	fitted, err := c.session.FitChat(ctx, conversation, c.sampling.Answer.MaxTokens)
	return len(fitted.Prompt.Tokens), err
}

// slashContext shows how full the context is, and what fills it.
func (c *chatLoop) slashContext(ctx context.Context, _ string) error {
	used, err := c.used(ctx)
	if err != nil {
		return err
	}
	all := c.session.Context()
	c.show("  in use     %d of %d tokens, %d %%", used, all, used*100/all)
	c.show("  left       %d for your next message and its answer", max(all-used, 0))
	c.show("  messages   %d", len(c.conversation.Messages))
	if c.forgotten.Messages > 0 {
		c.show("  left out   the oldest %d of them", c.forgotten.Messages)
	}
	if most := c.model.Info().MaxContext; most > all {
		c.show("  more       gemwire chat --context N holds up to %d with this model", most)
	}
	return nil
}

// explainFull says what a chat can do about a context that is full.
func (c *chatLoop) explainFull(err error) error {
	var full *gemma4.ContextFullError
	if !errors.As(err, &full) {
		return err
	}
	return errors.New(fullContext(full.Context, full.Most) +
		fmt.Sprintf("; this message takes the conversation to %d tokens, so it was removed", full.Prompt))
}

// fullContext says that a chat's context is full, and what makes room.
func fullContext(context, most int) string {
	text := fmt.Sprintf("the context of %d tokens is full: /undo removes the last message and its answer, "+
		"/reset forgets all", context)
	if most > context {
		text += fmt.Sprintf(", and gemwire chat --context N holds up to %d", most)
	}
	return text
}

// tellForgotten says what of the chat the model no longer knows, once for each change.
func (c *chatLoop) tellForgotten(f gemma4.Forgotten) {
	before := c.forgotten
	c.forgotten = f
	switch {
	case f.Tight && !before.Tight:
		c.note("the context is nearly full: soon the oldest messages will be left out; /context shows more")
	case f.Messages > 0 && f.Messages != before.Messages:
		c.note("the context is full: the oldest %d messages are left out, and the model still knows the other %d; "+
			"/forget off keeps all", f.Messages, f.Known)
	}
}

// tellFull says, where nothing is forgotten, that there is little room left.
func (c *chatLoop) tellFull() {
	tight := c.keepAll && c.session.Len() > c.session.Context()*7/8
	if tight && !c.forgotten.Tight {
		c.note("the context is nearly full; /context shows more, and /forget on leaves out the oldest messages")
	}
	if c.keepAll {
		c.forgotten = gemma4.Forgotten{Tight: tight}
	}
}
