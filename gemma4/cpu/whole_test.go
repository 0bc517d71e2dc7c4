package cpu

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// With everything in memory the file is not needed any more, and the results are
// the same.
func TestWhole(t *testing.T) {
	for _, name := range caseNames {
		t.Run(name, func(t *testing.T) {
			c := findCase(t, name)
			data, err := os.ReadFile(c.model)
			if err != nil {
				t.Fatal(err)
			}
			source := &failing{Source: gguf.Memory(data)}
			m := newModel(t, source, Options{Whole: true})
			source.broken.Store(true)
			inputs := promptOf(t, name, 20)
			equalLogits(t, "without the file", fresh(t, m, inputs), fresh(t, openModel(t, c.model, Options{}), inputs))
		})
	}
}

func newModel(t *testing.T, source gguf.Source, options Options) *Model {
	t.Helper()
	m, err := New(context.Background(), resolve(t, source), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func resolve(t *testing.T, source gguf.Source) *arch.Model {
	t.Helper()
	file, err := gguf.Open(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// Bytes adds up to what the budget has to be, to the last matrix.
func TestWholeIsTooLarge(t *testing.T) {
	source, err := gguf.OpenFile(findCase(t, "e2b").model)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	resolved := resolve(t, source)
	var needed int64
	probe := &loader{ctx: context.Background(), whole: true}
	probe.model(&Model{config: resolved.Config}, resolved)
	for _, w := range append(probe.often, probe.seldom...) {
		needed += Bytes(w.tensor, w.lookup)
	}
	_, err = New(context.Background(), resolved, Options{Whole: true, WeightBudget: needed - 1})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte too little: got %v, wanted ErrTooLarge", err)
	}
	m, err := New(context.Background(), resolved, Options{Whole: true, WeightBudget: needed})
	if err != nil {
		t.Fatalf("just enough: %v", err)
	}
	m.Close()
}

func TestYieldBetweenLayers(t *testing.T) {
	turns := 0
	m := openModel(t, findCase(t, "f32").model, Options{Batch: 10, Yield: func() { turns++ }})
	forward(t, m, newCache(t, m), promptOf(t, "f32", 30), Want{Logits: AllLogits})
	if want := 3 * m.config.Blocks; turns != want {
		t.Errorf("%d turns for three batches through %d layers, wanted %d", turns, m.config.Blocks, want)
	}
}
