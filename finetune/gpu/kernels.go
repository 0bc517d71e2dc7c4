package gpu

import (
	"context"
	"errors"

	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// manyShares are tokens that may follow one row, as where a model is held to what it
// says by itself.
const manyShares = 8

// Rehearse records, on a kit whose device rehearses, what training a tape of the model's
// takes: an adapter of a rank and scale, batches of a few tokens and of the longest, there
// and back, kept as they are and as halves, and the optimizer. Whoever listens to the kit
// and traces its device learns which kernels compute it.
func Rehearse(ctx context.Context, kit *ops.Kit, t *tape.Tape, model *gemma4.Model, rank int, scale float32,
	longest int) error {
	m, err := newMachine(t, model, kit)
	if err != nil {
		return err
	}
	defer m.Close()
	pairs := emptyPairs(t, rank, scale)
	if err := m.Write(ctx, pairs, &optimizer.State{First: pairs, Second: pairs}); err != nil {
		return err
	}
	few, most := rowsFor(1), rowsFor(longest)
	for _, s := range []size{{few, few, 1}, {most, most, 1}, {most, most, manyShares}} {
		for _, a := range []arrangement{{}, {halves: true, recompute: m.layers()}} {
			if err := m.rehearse(s, a); err != nil {
				return err
			}
		}
	}
	_, _, err = m.Read(ctx)
	return err
}

// rehearse records a plan. One that the device has no room for is left out: training will
// not take it.
func (m *Machine) rehearse(s size, a arrangement) error {
	p, err := m.newPlan(s, a)
	if errors.Is(err, wgslkit.ErrLimit) || errors.Is(err, wgslkit.ErrOutOfMemory) {
		return nil
	}
	if err == nil {
		p.release()
	}
	return err
}

// emptyPairs are pairs for each slot. They share their numbers, which are all 0.
func emptyPairs(t *tape.Tape, rank int, scale float32) []*adapter.Pair {
	widest := 0
	for _, s := range t.Slots {
		widest = max(widest, s.In, s.Out)
	}
	zeros := make([]float32, rank*widest)
	pairs := make([]*adapter.Pair, len(t.Slots))
	for i, s := range t.Slots {
		pairs[i] = &adapter.Pair{Rank: rank, In: s.In, Out: s.Out, Scale: scale, A: zeros[:rank*s.In],
			B: zeros[:rank*s.Out]}
	}
	return pairs
}
