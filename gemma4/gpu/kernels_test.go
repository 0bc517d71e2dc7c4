package gpu

import (
	"testing"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// TestKernelsHaveCases asks, of models of each kind, for this machine's tuning and that of
// large GPUs, and for caches of both types, that there is a case for every kernel that a
// session and a batch of any width take: one without would never be told right, and no
// answer could come of it.
func TestKernelsHaveCases(t *testing.T) {
	conformance.Long(t)
	for _, name := range conformance.Some(1, "e2b", "dense", "moe", "types") {
		t.Run(name, func(t *testing.T) {
			e, _ := newEngine(t, conformance.Path(t, name+".gguf"), 600)
			for _, cache := range []quant.Type{quant.F16, quant.Q8_0} {
				e.cache = cache
				large := ops.NewTuned(e.device, ops.TuningOf(e.device, wgslkit.DiscreteGPU))
				for _, kit := range conformance.Some(1, e.kit, large) {
					covered(t, kit, func(kit *ops.Kit) error {
						s, err := e.on(kit).newState(600)
						if err != nil {
							return err
						}
						defer s.Close()
						return s.rehearse(t.Context())
					})
					covered(t, kit, func(kit *ops.Kit) error {
						o := engine.BatchOptions{Streams: 64, Slots: 65, Context: 600}
						return e.RehearseBatch(t.Context(), kit, o, nil)
					})
				}
			}
		})
	}
}

func covered(t *testing.T, kit *ops.Kit, rehearse func(*ops.Kit) error) {
	t.Helper()
	left, err := checkup.Uncovered(kit, rehearse)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range left {
		t.Errorf("no case asks for %s", k.Name)
	}
}
