package gemma4_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
)

// longChat is a conversation of n turns with a system text before them.
func longChat(n int) chat.Conversation {
	c := chat.Conversation{Messages: []chat.Message{{Role: chat.System, Content: chat.Text("Be brief.")}}}
	for i := range n {
		c.Messages = append(c.Messages,
			chat.Message{Role: chat.User, Content: chat.Text(fmt.Sprintf("Question %d: what is the capital of France?", i))},
			chat.Message{Role: chat.Assistant, Content: chat.Text("The capital of France is Paris.")})
	}
	c.Messages = append(c.Messages, chat.Message{Role: chat.User, Content: chat.Text("The last question")})
	return c
}

// A conversation of any length keeps room for an answer, its system text and the last
// question, and its beginning stays the same for several questions.
func TestFitChat(t *testing.T) {
	const context = 256
	s := newSession(t, open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU}), context)
	before, changes, tight := 0, 0, false
	for n := range 60 {
		fitted, err := s.FitChat(t.Context(), longChat(n), 0)
		if err != nil {
			t.Fatal(err)
		}
		messages := fitted.Conversation.Messages
		if got := len(fitted.Prompt.Tokens); got > context*3/4 {
			t.Fatalf("after %d turns the prompt has %d tokens", n, got)
		}
		if messages[0].Role != chat.System || messages[len(messages)-1].Content.String() != "The last question" ||
			len(messages)+fitted.Forgotten != 2*n+2 {
			t.Fatalf("after %d turns, %d messages are forgotten and %d known", n, fitted.Forgotten, len(messages))
		}
		if fitted.Forgotten < before {
			t.Errorf("after %d turns, %d messages are forgotten, %d were before", n, fitted.Forgotten, before)
		}
		if fitted.Forgotten > 0 && before == 0 && !tight {
			t.Error("there was no word before anything was left out")
		}
		if fitted.Forgotten != before {
			changes++
		}
		before, tight = fitted.Forgotten, fitted.Tight
	}
	if before == 0 || changes > 60/2 {
		t.Errorf("the prompt's beginning changed %d times in 60 questions", changes)
	}
}

// What cannot be forgotten and does not fit is refused, and answers tell what was left out.
func TestChatForgets(t *testing.T) {
	s := newSession(t, open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU}), 256)
	var heard gemma4.Forgotten
	options := gemma4.GenerateOptions{MaxTokens: 3, Forget: true, Forgot: func(f gemma4.Forgotten) { heard = f }}
	var usage *gemma4.Usage
	for e, err := range s.Chat(t.Context(), longChat(40), options) {
		if err != nil {
			t.Fatal(err)
		}
		usage = e.Usage
	}
	if usage == nil || usage.Forgotten == 0 || heard.Messages != usage.Forgotten || heard.Messages+heard.Known != 82 {
		t.Errorf("heard %+v, and at the end %+v", heard, usage)
	}
	endless := longChat(3)
	endless.Messages[len(endless.Messages)-1].Content = chat.Text(strings.Repeat("and on ", 400))
	_, err := firstEvent(s.Chat(t.Context(), endless, options))
	var full *gemma4.ContextFullError
	if !errors.As(err, &full) || full.Context != 256 {
		t.Errorf("a question that does not fit: %v", err)
	}
	options.Forget = false
	if _, err := firstEvent(s.Chat(t.Context(), longChat(40), options)); !errors.Is(err, gemma4.ErrContextFull) {
		t.Errorf("where nothing may be forgotten: %v", err)
	}
}
