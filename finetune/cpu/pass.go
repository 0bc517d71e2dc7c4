package cpu

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
)

// pass is one batch on its way through the tape and back.
type pass struct {
	*Machine
	ctx    context.Context
	batch  *tape.Batch
	n      int // positions
	pairs  []*adapter.Pair
	values [][]float32 // by tape.Value, [n, width]; nil where not computed or forgotten

	// For the way back.
	grads  []*adapter.Pair
	deltas [][]float32 // ∂loss/∂value, by tape.Value; nil until something is added
	weight float64     // of the loss

	loss      float64
	logits    []float32 // where wanted
	rotations [2]*rotation
}

func (m *Machine) newPass(ctx context.Context, batch *tape.Batch, pairs []*adapter.Pair) (*pass, error) {
	if len(pairs) != len(m.tape.Slots) {
		return nil, fmt.Errorf("%w: %d pairs for %d slots", tape.ErrBatch, len(pairs), len(m.tape.Slots))
	}
	for i, s := range m.tape.Slots {
		if p := pairs[i]; p.In != s.In || p.Out != s.Out || len(p.A) != p.Rank*p.In || len(p.B) != p.Out*p.Rank {
			return nil, fmt.Errorf("%w: the pair for %s of layer %d is [%d, %d] of rank %d; wanted [%d, %d]",
				tape.ErrBatch, s.Linear, s.Layer, p.Out, p.In, p.Rank, s.Out, s.In)
		}
	}
	if err := batch.Check(m.tape.Config); err != nil {
		return nil, err
	}
	return &pass{
		Machine: m, ctx: ctx, batch: batch, n: batch.Len(), pairs: pairs,
		values: make([][]float32, len(m.tape.Values)), deltas: make([][]float32, len(m.tape.Values)),
	}, nil
}

// forward computes all values. Where a backward pass does not follow, or computes
// again, nothing is held on to but what later sections read.
func (p *pass) forward(training bool) error {
	return p.tape.Forward((*forward)(p), func(i int) error {
		if i > 0 && (!training || p.Recompute) {
			p.forget(i-1, p.values)
		}
		return p.ctx.Err()
	})
}

// backward computes the gradients.
func (p *pass) backward() error {
	last := len(p.tape.Sections)
	return p.tape.Backward((*back)(p), func(i int) error {
		if last < len(p.tape.Sections) {
			p.forget(last, p.values)
			p.forget(last, p.deltas)
		}
		if p.Recompute && i+1 < len(p.tape.Sections) {
			if err := p.tape.ForwardSection((*forward)(p), i); err != nil {
				return err
			}
		}
		last = i
		return p.ctx.Err()
	})
}

// forget drops what a section computed and no other section reads.
func (p *pass) forget(section int, values [][]float32) {
	s := &p.tape.Sections[section]
	for _, op := range s.Ops {
		if out := op.Output(); out != tape.None && !slices.Contains(s.Saved, out) {
			values[out] = nil
		}
	}
}

// forward computes ops forward, back their gradients.
type (
	forward pass
	back    pass
)

// row is position t of a value.
func (p *pass) row(v tape.Value, t int) []float32 {
	w := p.tape.Shape(v).Width
	return p.values[v][t*w : (t+1)*w]
}

// make gives a value memory, all zeros.
func (p *pass) make(v tape.Value) []float32 {
	p.values[v] = make([]float32, p.n*p.tape.Shape(v).Width)
	return p.values[v]
}

// delta is the gradient of a value so far, nil where nobody wants it.
func (p *pass) delta(v tape.Value) []float32 {
	if !p.tape.Shape(v).Trained {
		return nil
	}
	if p.deltas[v] == nil {
		p.deltas[v] = make([]float32, p.n*p.tape.Shape(v).Width)
	}
	return p.deltas[v]
}

// each spreads positions over the cores.
func (p *pass) each(grain int, f func(t int) error) error {
	return p.cores.Each(p.n, grain, func(from, to int) error {
		for t := from; t < to; t++ {
			if err := f(t); err != nil {
				return err
			}
		}
		return nil
	})
}
