package finetune

import (
	"context"
	"math"
	"slices"

	"github.com/gemwire/gemwire/finetune/cpu"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	base "github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/wgslkit"
)

// cpuEngine trains in float32 on the CPU.
type cpuEngine struct {
	machine *cpu.Machine
	tape    *tape.Tape
	pairs   []*adapter.Pair
	grads   []*adapter.Pair
	state   *optimizer.State

	recompute bool
	budget    int64
}

func newCPUEngine(t *tape.Tape, model *base.Model, c *Config) *cpuEngine {
	return &cpuEngine{machine: cpu.Over(t, model), tape: t, recompute: c.Recompute, budget: c.MemoryBudget}
}

func (e *cpuEngine) gradients(ctx context.Context, batch *tape.Batch, weight float64) (float64, error) {
	e.machine.Recompute = e.recomputes(batch.Len())
	return e.machine.Gradients(ctx, batch, e.pairs, e.grads, weight)
}

func (e *cpuEngine) loss(ctx context.Context, batch *tape.Batch) (float64, error) {
	return e.machine.Loss(ctx, batch, e.pairs)
}

func (e *cpuEngine) step(_ context.Context, o optimizer.AdamW, rate float64) (float64, error) {
	length := optimizer.Length(e.grads)
	if !math.IsNaN(length) && !math.IsInf(length, 0) {
		o.Step(e.state, e.pairs, e.grads, rate)
	}
	return length, e.forget()
}

func (e *cpuEngine) forget() error {
	for _, g := range e.grads {
		clear(g.A)
		clear(g.B)
	}
	return nil
}

func (e *cpuEngine) read(context.Context) ([]*adapter.Pair, *optimizer.State, error) {
	s := &optimizer.State{Steps: e.state.Steps, First: copied(e.state.First), Second: copied(e.state.Second)}
	return copied(e.pairs), s, nil
}

func (e *cpuEngine) write(_ context.Context, pairs []*adapter.Pair, state *optimizer.State) error {
	e.pairs = copied(pairs)
	e.state = &optimizer.State{Steps: state.Steps, First: copied(state.First), Second: copied(state.Second)}
	e.grads = optimizer.Zeros(pairs)
	return nil
}

func copied(pairs []*adapter.Pair) []*adapter.Pair {
	list := make([]*adapter.Pair, len(pairs))
	for i, p := range pairs {
		c := *p
		c.A, c.B = slices.Clone(p.A), slices.Clone(p.B)
		list[i] = &c
	}
	return list
}

// recomputes says whether layers are computed again for batches of so many tokens:
// where that is wished, or where keeping all would take more than the budget.
func (e *cpuEngine) recomputes(tokens int) bool {
	return e.recompute || e.budget > 0 && e.bytes(tokens, false) > e.budget
}

// bytes counts the adapter four times (itself, gradients, two moments) and all
// values with their gradients: those of one layer, with what is kept of the
// others, where they are computed again.
func (e *cpuEngine) bytes(tokens int, recompute bool) int64 {
	var adapters int64
	for _, pair := range e.pairs {
		adapters += int64(len(pair.A) + len(pair.B))
	}
	return 4 * (4*adapters + int64(tokens)*e.tape.Widths(recompute))
}

func (e *cpuEngine) plan(tokens int, p *Plan) {
	again := e.recomputes(tokens)
	if again {
		p.Recomputed = e.tape.Config.Blocks
	}
	p.Bytes = e.bytes(tokens, again)
}

func (e *cpuEngine) fits(tokens int) bool {
	return e.budget == 0 || e.bytes(tokens, true) <= e.budget
}

func (e *cpuEngine) profile(context.Context, *tape.Batch) ([]wgslkit.KernelTime, error) {
	return nil, nil
}

func (e *cpuEngine) close() error {
	e.machine.Close()
	return nil
}
