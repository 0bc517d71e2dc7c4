package measure

import (
	"errors"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/tools/lab/internal/synth"
	"github.com/gemwire/gemwire/wgslkit"
)

// smallShapes are the family's kinds in little: with per-layer embeddings and shared
// caches, and with experts and keys as values.
func smallShapes(t *testing.T) []synth.Shape {
	t.Helper()
	nano, err := synth.Named("nano")
	if err != nil {
		t.Fatal(err)
	}
	return []synth.Shape{nano, {
		Name: "small experts", Layers: 3, Width: 256, Heads: 4,
		SlidingKVHeads: 2, GlobalKVHeads: 1, SlidingHeadDim: 64, GlobalHeadDim: 128, Period: 3, Window: 64,
		KeyIsValue:  true,
		FeedForward: 256, Experts: 8, ExpertsUsed: 2, ExpertFeedForward: 256, Context: 4096, Vocab: 2048,
	}}
}

// Budgets in the proportions of real devices to real models, each kept to.
func TestMemoryKeepsItsPromises(t *testing.T) {
	conformance.OnlyInAll(t)
	for _, shape := range conformance.Some(1, smallShapes(t)...) {
		t.Run(shape.Name, func(t *testing.T) {
			source, err := synth.Open(t.Context(), synth.Options{Shape: shape, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			open := func() (*gguf.File, error) { return gguf.Open(t.Context(), source) }
			file, err := open()
			if err != nil {
				t.Fatal(err)
			}
			whole, err := gemma4.PlanFor(file, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 512})
			if errors.Is(err, wgslkit.ErrNoDevice) {
				t.Skip("no GPU: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			budgets := []int64{1 << 20, whole.Total() + 400_000}
			rows, err := Memory(t.Context(), shape.Name, open, MemoryOptions{Budgets: budgets, Context: 512, Run: true})
			if err := errors.Join(err, Kept(rows)); err != nil {
				t.Fatal(err)
			}
			if len(rows) < 3 || rows[0].Misfit == "" || rows[0].Taken != 0 {
				t.Fatalf("%d rows, the first %+v", len(rows), rows[0])
			}
			for _, row := range rows[1:] {
				if row.Taken != row.Unguessed() || row.Promised > row.Budget {
					t.Errorf("%d tokens in %s: %d bytes promised and %d taken of %d", row.Plan.Context,
						row.Plan.KVCache, row.Promised,
						row.Taken, row.Budget)
				}
			}
			usual, longest, last := rows[1].Plan, rows[2].Plan, rows[len(rows)-1].Plan
			if usual.Context != 512 || longest.Context <= 512 ||
				longest.Context < shape.Context && (last.Context <= longest.Context || last.KVCache != gemma4.CacheQ8) {
				t.Errorf("contexts of %d, %d and %d tokens", usual.Context, longest.Context, last.Context)
			}
		})
	}
}

func TestBrokenPromisesAreTold(t *testing.T) {
	if err := Kept([]MemoryRow{{Model: "a"}, {Model: "b", Failure: "more was taken"}}); !errors.Is(err, ErrPromise) {
		t.Errorf("%v", err)
	}
}
