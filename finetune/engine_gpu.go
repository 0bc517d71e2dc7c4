package finetune

import (
	"context"

	"github.com/gemwire/gemwire/finetune/gpu"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// gpuEngine trains on the GPU that the model is on.
type gpuEngine struct{ machine *gpu.Machine }

// newGPUEngine examines the kernels that the run takes before it has any.
func newGPUEngine(ctx context.Context, t *Trainer, model *gemma4.Model) (*gpuEngine, error) {
	c := &t.config
	err := model.ExamineOnWeights(ctx, "training", func(kit *ops.Kit) error {
		return gpu.Rehearse(ctx, kit, t.tape, model, c.Rank, float32(c.Alpha/float64(c.Rank)), t.longest())
	})
	if err != nil {
		return nil, err
	}
	m, err := gpu.New(t.tape, model)
	if err != nil {
		return nil, err
	}
	m.Recompute, m.Precision, m.Budget = c.Recompute, gpu.Precision(c.Precision), c.MemoryBudget
	return &gpuEngine{m}, nil
}

func (e *gpuEngine) gradients(ctx context.Context, batch *tape.Batch, weight float64) (float64, error) {
	return e.machine.Gradients(ctx, batch, weight)
}

func (e *gpuEngine) loss(ctx context.Context, batch *tape.Batch) (float64, error) {
	return e.machine.Loss(ctx, batch)
}

func (e *gpuEngine) step(ctx context.Context, o optimizer.AdamW, rate float64) (float64, error) {
	return e.machine.Step(ctx, o, rate)
}

func (e *gpuEngine) forget() error { return e.machine.Forget() }

func (e *gpuEngine) read(ctx context.Context) ([]*adapter.Pair, *optimizer.State, error) {
	return e.machine.Read(ctx)
}

func (e *gpuEngine) write(ctx context.Context, pairs []*adapter.Pair, state *optimizer.State) error {
	return e.machine.Write(ctx, pairs, state)
}

// plan is 0 for batches that the device has no room for, which the first step
// says with its reason.
func (e *gpuEngine) plan(tokens int, p *Plan) {
	if made, err := e.machine.PlanFor(tokens); err == nil {
		p.Bytes, p.Recomputed, p.Halves = made.Bytes, made.Recomputed, made.Halves
	}
}

func (e *gpuEngine) fits(tokens int) bool {
	made, err := e.machine.PlanFor(tokens)
	return e.machine.Budget == 0 || err == nil && made.Bytes <= e.machine.Budget
}

func (e *gpuEngine) profile(ctx context.Context, batch *tape.Batch) ([]wgslkit.KernelTime, error) {
	return e.machine.Profile(ctx, batch)
}

func (e *gpuEngine) close() error {
	e.machine.Close()
	return nil
}
