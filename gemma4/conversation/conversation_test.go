package conversation_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/conversation"
	"github.com/gemwire/gemwire/gguf"
)

func openSession(t testing.TB) *gemma4.Session {
	t.Helper()
	source, err := gguf.OpenFile("../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		t.Fatal(err)
	}
	model, err := gemma4.Open(t.Context(), source, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 512})
	if err != nil {
		t.Fatal(err)
	}
	session, err := model.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(session.Close(), model.Close()); err != nil {
			t.Error(err)
		}
	})
	return session
}

// text is an answer's, and its usage.
func text(t testing.TB, answer iter.Seq2[gemma4.Event, error]) (string, gemma4.Usage) {
	t.Helper()
	var b strings.Builder
	var usage gemma4.Usage
	for event, err := range answer {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(event.Text)
		if event.Usage != nil {
			usage = *event.Usage
		}
	}
	return b.String(), usage
}

// Saved in the middle and restored, a conversation gives the same next answer, and
// computes no more for it than it would have.
func TestSaveAndRestore(t *testing.T) {
	session := openSession(t)
	c := conversation.New(session)
	text(t, c.Say(t.Context(), "My name is Ada.", gemma4.GenerateOptions{}))
	var saved bytes.Buffer
	if err := c.Save(&saved); err != nil {
		t.Fatal(err)
	}
	want, wantUsage := text(t, c.Say(t.Context(), "What is my name?", gemma4.GenerateOptions{}))
	all := c.Messages()

	restored := conversation.New(openSession(t))
	if err := restored.Restore(bytes.NewReader(saved.Bytes())); err != nil {
		t.Fatal(err)
	}
	got, usage := text(t, restored.Say(t.Context(), "What is my name?", gemma4.GenerateOptions{}))
	if got != want || got != "Your name is Ada." || usage.Computed != wantUsage.Computed {
		t.Errorf("%q with %d tokens computed, want %q with %d", got, usage.Computed, want, wantUsage.Computed)
	}
	sameContent := cmp.Comparer(func(a, b chat.Content) bool { return a.String() == b.String() })
	if diff := cmp.Diff(all, restored.Messages(), sameContent); diff != "" || len(all) != 4 {
		t.Error(diff)
	}

	whole := saved.Bytes()
	for at := 0; at < len(whole); at += 1 + at/2 {
		whole[at] ^= 4
		if err := restored.Restore(bytes.NewReader(whole)); !errors.Is(err, gemma4.ErrSavedSession) {
			t.Errorf("with byte %d changed: %v", at, err)
		}
		if n := len(restored.Messages()); n != 0 {
			t.Errorf("with byte %d changed, %d messages are there", at, n)
		}
		whole[at] ^= 4
	}
}

// What a failure leaves is the conversation before; what a user stops stays as far as it came.
func TestAfterAnEnd(t *testing.T) {
	c := conversation.New(openSession(t))
	for _, err := range c.Send(t.Context(), []chat.Message{{Role: "wizard"}}, gemma4.GenerateOptions{}) {
		if !errors.Is(err, chat.ErrMessage) {
			t.Errorf("an unknown role: %v", err)
		}
	}
	if n := len(c.Messages()); n != 0 {
		t.Errorf("%d messages after a failure", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range c.Say(ctx, "Tell me a story about a dog.", gemma4.GenerateOptions{}) {
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if m := c.Messages(); len(m) != 2 || m[1].Role != chat.Assistant || m[1].Content.String() == "" {
		t.Errorf("after a cancelled answer: %v", m)
	}
	for range c.Say(t.Context(), "Tell me a story about a dog.", gemma4.GenerateOptions{}) {
		break
	}
	if m := c.Messages(); len(m) != 4 || m[3].Role != chat.Assistant {
		t.Errorf("after a loop that was left: %v", m)
	}
	c.SetSystem("Be brief.")
	c.SetSystem("Be kind.")
	if m := c.Messages(); len(m) != 5 || m[0].Content.String() != "Be kind." {
		t.Errorf("with a system prompt: %v", m)
	}
	c.SetSystem("")
	if m := c.Messages(); len(m) != 4 || m[0].Role != chat.User {
		t.Errorf("without a system prompt: %v", m)
	}
	if err := c.Reset(); err != nil || len(c.Messages()) != 0 {
		t.Errorf("after a reset: %v, %v", c.Messages(), err)
	}
}
