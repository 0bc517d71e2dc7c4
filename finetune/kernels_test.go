package finetune_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// examined opens nano on the GPU with an examiner of its own; the test is skipped where there is none.
func examined(t *testing.T, e *checkup.Examiner) *gemma4.Model {
	t.Helper()
	m, err := gemma4.Open(t.Context(), nano.Source(),
		gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 512, Kernels: e})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// TestTrainingTakesExaminedKernels makes a step, and asks that no kernel is compiled for it
// that was not examined; one that computes wrongly keeps a run from beginning.
func TestTrainingTakesExaminedKernels(t *testing.T) {
	store := checkup.Store{Folder: t.TempDir(), Version: "v1"}
	model := examined(t, &checkup.Examiner{Keeper: store})
	data := finetune.Data{Train: examples(t, model, facts)}
	trainer := newTrainer(t, model, data, small(1))
	known := store.Load(model.Kit().Device().Info())
	stop := model.Kit().Device().TraceKernels()
	losses(t, trainer, 0)
	taken := stop()
	for _, k := range taken {
		if !slices.Contains(known.Right, k) {
			t.Errorf("%s was not examined", k.Name)
		}
	}
	if len(taken) == 0 || model.Info().Kernels.Kernels <= 1 {
		t.Errorf("%d kernels were taken, %d are known", len(taken), model.Info().Kernels.Kernels)
	}
	if err := trainer.Close(); err != nil {
		t.Fatal(err)
	}

	known.Right = slices.DeleteFunc(known.Right, func(k wgslkit.KernelID) bool {
		return strings.HasPrefix(k.Name, "adamw")
	})
	if err := store.Keep(known); err != nil {
		t.Fatal(err)
	}
	wrong := func(ctx context.Context, c opstest.Case, kit *ops.Kit) (float64, error) {
		relErr, err := c.Run(ctx, kit)
		if c.Op == "AdamW" {
			relErr = 1
		}
		return relErr, err
	}
	broken := examined(t, &checkup.Examiner{Keeper: store, Run: wrong})
	if _, err := finetune.New(t.Context(), broken, data, small(1)); !errors.Is(err, checkup.ErrNoVariant) {
		t.Errorf("with an optimizer that computes wrongly: %v", err)
	}
}
