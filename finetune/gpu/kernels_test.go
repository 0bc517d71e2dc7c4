package gpu

import (
	"context"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// TestKernelsHaveCases asks, of models of each kind and of the tunings of small and of large
// GPUs, that there is a case for every kernel that training takes: one without would never be
// told right, and the run would be refused.
func TestKernelsHaveCases(t *testing.T) {
	conformance.Long(t)
	for _, name := range []string{"e2b", "dense", "moe", "types"} {
		t.Run(name, func(t *testing.T) {
			model := openModel(t, name, gemma4.OpenOptions{UncheckedKernels: true})
			every := func(adapter.Target) bool { return true }
			taped := tapeFor(t, model, somePairs(t, model, every))
			large := model.Kit().Tuning()
			large.MatvecLooped, large.SmallKernels, large.LargeTiles, large.FewestOfExpert = false, false, true, 1
			for _, kit := range []*ops.Kit{model.Kit(), ops.NewTuned(model.Kit().Device(), large)} {
				left, err := checkup.Uncovered(kit, func(kit *ops.Kit) error {
					return Rehearse(context.Background(), kit, taped, model, 16, 2, 600)
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range left {
					t.Errorf("no case asks for %s", k.Name)
				}
			}
		})
	}
}
