package gpu

import (
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// TestPipelinedPasses lets texts come and go while a pass is under way over what the last step
// chose: each has the tokens that it has alone, and nobody reads what was computed for one
// that has left.
func TestPipelinedPasses(t *testing.T) {
	e, _ := newEngine(t, "../../testdata/conformance/nano/nano.gguf", 256)
	prompts := [][]int32{{2, 100, 7, 300, 20}, {2, 9, 8, 7}, {2, 500, 41, 30, 20, 9, 8}}
	const n = 8
	var want [][]int32
	for _, prompt := range prompts {
		want = append(want, chosenAlone(t, e, prompt, n))
	}
	b, err := e.newBatch(engine.BatchOptions{Streams: 3, Slots: 3, Context: 256})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	start := func(slot int) {
		t.Helper()
		prompt := prompts[slot]
		b.Rewind(slot, 0)
		if err := b.Prefill(t.Context(), slot, engine.Piece{Tokens: prompt[:len(prompt)-1]}); err != nil {
			t.Fatal(err)
		}
		if err := b.Start(slot, sample.Params{}, prompt, nil); err != nil {
			t.Fatal(err)
		}
	}
	got := make([][]int32, 3)
	step := func(later, pending []int, turns ...engine.Turn) {
		t.Helper()
		outcomes, err := b.Step(t.Context(), turns)
		if err != nil {
			t.Fatal(err)
		}
		for i, turn := range turns {
			o := outcomes[i]
			switch {
			case o.Err != nil:
				t.Fatal(o.Err)
			case o.Later != slices.Contains(later, turn.Slot):
				t.Errorf("text %d: later %v", turn.Slot, o.Later)
			case !o.Later:
				got[turn.Slot] = append(got[turn.Slot], o.Choice.Token)
			}
		}
		var under []int
		if b.pending != nil {
			under = b.pending.slots
		}
		if !slices.Equal(under, pending) {
			t.Errorf("a pass over %v is under way, want %v", under, pending)
		}
	}
	turn := func(slot int) engine.Turn { return engine.Turn{Slot: slot} }
	last := func(slot int) engine.Turn { return engine.Turn{Slot: slot, Last: true} }
	start(0)
	start(1)
	step(nil, []int{0, 1}, turn(0), turn(1))
	start(2)
	step([]int{2}, []int{0, 1, 2}, turn(0), turn(1), turn(2))
	step(nil, []int{0, 1}, turn(0), turn(1), last(2))
	b.Stop(2)
	b.Stop(0) // with its choice under way
	step(nil, nil, turn(1))
	if err := b.Force(t.Context(), 1, want[1][4:6]); err != nil {
		t.Fatal(err)
	}
	got[1] = append(got[1], want[1][4:6]...)
	start(0)
	got[0] = nil
	step(nil, []int{1, 0}, turn(1), turn(0))
	step(nil, []int{1, 0}, turn(1), turn(0))
	b.Stop(1)
	start(1) // in the slot of a text that has left
	got[1] = nil
	step([]int{1}, []int{1, 0}, turn(1), turn(0))
	step(nil, []int{1, 0}, turn(1), turn(0))
	step(nil, nil, last(1), last(0))
	for slot, list := range got {
		if !slices.Equal(list, want[slot][:len(list)]) {
			t.Errorf("text %d: %v, alone %v", slot, list, want[slot])
		}
	}
}

// chosenAlone is what a session chooses behind a prompt.
func chosenAlone(t *testing.T, e *Engine, prompt []int32, n int) (tokens []int32) {
	t.Helper()
	st, err := e.newState(256)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Prefill(t.Context(), engine.Piece{Tokens: prompt}, func(int) {}); err != nil {
		t.Fatal(err)
	}
	if err := st.Start(sample.Params{}, slices.Clone(prompt), n, nil); err != nil {
		t.Fatal(err)
	}
	for range n {
		choice, err := st.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, choice.Token)
	}
	st.Stop(len(prompt))
	return tokens
}
