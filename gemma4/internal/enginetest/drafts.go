package enginetest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf"
)

// Context is how many tokens the tests' states hold.
const Context = 128

// OpenModel opens the header of a file until the test ends.
func OpenModel(t *testing.T, path string) *arch.Model {
	t.Helper()
	source, err := gguf.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	m, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// AttachAssistant attaches the reference's assistant to an engine of the reference's
// model; without clusters, it has logits of the whole vocabulary.
func AttachAssistant(t *testing.T, e engine.Engine, m *arch.Model, conformance string, clusters bool) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(conformance, "assistant", "assistant.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if !clusters { // under a name that nobody looks for
		raw = bytes.Replace(raw, []byte("masked_embd_ordering"), []byte("_asked_embd_ordering"), 1)
	}
	file, err := gguf.Open(t.Context(), gguf.Memory(raw))
	if err != nil {
		t.Fatal(err)
	}
	a, err := arch.OpenAssistant(file, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.AttachAssistant(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
}

// Assisted is a state that has computed a prompt and chosen a token behind it, and that
// token. It closes with the test.
func Assisted(t *testing.T, e engine.Engine, ids []int32) (s engine.State, chosen int32) {
	t.Helper()
	s, err := e.NewState(Context)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ctx := context.Background()
	steps := []func() error{
		func() error { return s.Prefill(ctx, engine.Piece{Tokens: ids}, func(int) {}) },
		func() error { return s.Start(sample.Params{}, slices.Clone(ids), 50, nil) },
		func() error {
			if s.LimitDrafts(4, 4).Assistant != 4 || s.Drain(true) {
				return errors.New("not ready to draft")
			}
			choice, err := s.Next(ctx)
			chosen = choice.Token
			return err
		},
		func() error {
			if !s.Drain(true) {
				return errors.New("nothing may be drafted behind the first token")
			}
			return nil
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return s, chosen
}

// DraftsAgree sees that what an assistant drafts behind a text does not depend on how the
// text was computed: as a prompt, token by token, or as a draft of which a part was right.
func DraftsAgree(t *testing.T, e engine.Engine, vocab int32) {
	t.Helper()
	ids := []int32{2}
	for i := range int32(30) {
		ids = append(ids, 100+i*i*37%1800)
	}
	ctx := context.Background()
	draft := func(s engine.State) []int32 {
		tokens, err := s.Draft(ctx, 3)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(tokens)
	}
	var chain []int32
	steps, first := Assisted(t, e, ids)
	for range 3 {
		choice, err := steps.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, choice.Token)
	}
	want := draft(steps)

	drafted, _ := Assisted(t, e, ids)
	choices, err := drafted.Verify(ctx, []int32{chain[0], chain[1], (chain[2] + 1) % vocab, 5})
	if err != nil || len(choices) != 3 || choices[2].Token != chain[2] {
		t.Fatalf("choices %v, %v; want %v", choices, err, chain)
	}
	if got := draft(drafted); !slices.Equal(got, want) {
		t.Errorf("after a draft %v, want %v", got, want)
	}
	// The token that came first stands in the prompt of another state.
	prompt, _ := Assisted(t, e, slices.Concat(ids, []int32{first}, chain[:2]))
	if got := draft(prompt); !slices.Equal(got, want) {
		t.Errorf("after a prompt %v, want %v", got, want)
	}
}
