package chat_test

import (
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
)

func TestWithoutOldest(t *testing.T) {
	var c chat.Conversation
	c.Options.EnableThinking = true
	for _, m := range []string{"system:s", "assistant:greeting", "user:1", "assistant:a", "tool:r", "assistant:b",
		"system:later", "user:2", "assistant:c", "user:3", "assistant:call", "tool:result"} {
		role, text, _ := strings.Cut(m, ":")
		c.Messages = append(c.Messages, chat.Message{Role: role, Content: chat.Text(text)})
	}
	texts := func(c chat.Conversation) string {
		var all []string
		for _, m := range c.Messages {
			all = append(all, m.Content.String())
		}
		return strings.Join(all, " ")
	}
	whole := texts(c)
	if n := c.Forgettable(); n != 2 {
		t.Errorf("%d turns may be forgotten", n)
	}
	for n, want := range []struct {
		left      string
		forgotten int
	}{{whole, 0}, {"s later 2 c 3 call result", 5}, {"s later 3 call result", 7}, {"s later 3 call result", 7}} {
		left, forgotten := c.WithoutOldest(n)
		if got := texts(left); got != want.left || forgotten != want.forgotten || !left.Options.EnableThinking {
			t.Errorf("without %d turns, %d messages less: %q, want %q and %d", n, forgotten, got, want.left,
				want.forgotten)
		}
	}
	if texts(c) != whole {
		t.Errorf("the conversation itself became %q", texts(c))
	}
	alone := chat.Conversation{Messages: []chat.Message{{Role: chat.System}, {Role: chat.Assistant}}}
	if left, forgotten := alone.WithoutOldest(1); alone.Forgettable() != 0 || forgotten != 0 || len(left.Messages) != 2 {
		t.Error("a conversation without a question lost something")
	}
}
