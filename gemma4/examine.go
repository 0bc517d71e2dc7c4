package gemma4

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/gpu"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// examiner is the one that was asked for, with this opening's progress; nil for none.
func (o OpenOptions) examiner() *checkup.Examiner {
	var e checkup.Examiner
	switch {
	case o.UncheckedKernels, o.Kernels == nil && runtime.GOOS == "js":
		return nil
	case o.Kernels != nil:
		e = *o.Kernels
	default:
		e.Keeper = checkup.NewStore(checkup.BuiltVersion())
	}
	if e.Progress == nil {
		e.Progress = func(done, total int) {
			o.report(Progress{Phase: PhaseCheck, Done: int64(done), Total: int64(total)})
		}
	}
	return &e
}

// openGPU opens the device without features that were found to compute wrongly.
func (o OpenOptions) openGPU(e *checkup.Examiner) (*wgslkit.Device, error) {
	options := o.GPU
	if options.Avoid == nil && e != nil && e.Keeper != nil {
		options.Avoid = func(info wgslkit.Info) wgslkit.Avoid {
			if v := e.Keeper.Load(info); v != nil {
				return v.Avoid
			}
			return wgslkit.Avoid{}
		}
	}
	return wgslkit.Open(options)
}

// ExamineKernels is for whoever computes beside the model on its GPU: it examines what
// rehearse records, as opening did the model's own kernels, and returns the kit to compute
// with. It returns kit itself where kernels go unchecked. Info.Kernels then counts these
// too. See checkup.Examiner.
func (m *Model) ExamineKernels(ctx context.Context, kit *ops.Kit, rehearse func(*ops.Kit) error) (*ops.Kit, error) {
	if m.examiner == nil {
		return kit, nil
	}
	kit, found, err := m.examiner.Examine(ctx, kit, rehearse)
	m.noteKernels(found)
	if errors.Is(err, checkup.ErrNoVariant) {
		return nil, fmt.Errorf("%w; use the device %q", err, DeviceCPU)
	}
	return kit, err
}

func (m *Model) noteKernels(found *checkup.Findings) {
	m.examined.Lock()
	m.kernels = m.kernels.With(found)
	all := m.kernels
	m.examined.Unlock()
	if m.hearExamined != nil {
		m.hearExamined(all)
	}
}

// examineAdapters examines the kernels that the model takes with adapters.
func (m *Model) examineAdapters(ctx context.Context, adapters []adapter.Weighted) error {
	if len(adapters) == 0 {
		return nil
	}
	options := m.options
	return m.ExamineOnWeights(ctx, "adapters; merge them into the model", func(kit *ops.Kit) error {
		return gpu.Rehearse(ctx, kit, m.arch, options, adapters, nil)
	})
}

// examineBatch examines the kernels of a batch with these adapters.
func (m *Model) examineBatch(ctx context.Context, o engine.BatchOptions, adapters []adapter.Weighted) error {
	e, ok := m.engine.(gpuEngine)
	if !ok {
		return nil
	}
	return m.ExamineOnWeights(ctx, "many answers at once; make one at a time", func(kit *ops.Kit) error {
		return e.RehearseBatch(ctx, kit, o, adapters)
	})
}

// examineBatches does so for all that are open.
func (m *Model) examineBatches(ctx context.Context, adapters []adapter.Weighted) error {
	m.batching.Lock()
	defer m.batching.Unlock()
	for _, o := range m.batches {
		if err := m.examineBatch(ctx, o, adapters); err != nil {
			return err
		}
	}
	return nil
}

// examineAssistant examines the kernels that the model takes with an assistant.
func (m *Model) examineAssistant(ctx context.Context, a *arch.Assistant) error {
	options := m.options
	return m.ExamineOnWeights(ctx, "an assistant; answer without it", func(kit *ops.Kit) error {
		return gpu.Rehearse(ctx, kit, m.arch, options, nil, a)
	})
}

// ExamineOnWeights is ExamineKernels for what computes with the model's own weights, which
// lie as the model's kit has laid them: where others would have to stand in, the error
// wraps checkup.ErrNoVariant, and says what it is that cannot be had, and what to do instead.
func (m *Model) ExamineOnWeights(ctx context.Context, what string, rehearse func(*ops.Kit) error) error {
	kit := m.Kit()
	if kit == nil {
		return nil
	}
	settled, err := m.ExamineKernels(ctx, kit, rehearse)
	if errors.Is(err, checkup.ErrNoVariant) {
		return fmt.Errorf("%w; it is for %s", err, what)
	}
	if err == nil && settled != kit {
		err = fmt.Errorf("%w: that of %s, or use the device %q", checkup.ErrNoVariant, what, DeviceCPU)
	}
	return err
}
