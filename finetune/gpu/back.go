package gpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Embeddings are frozen: no gradient reaches them.
func (*back) Embed(*tape.Embed) error                   { return nil }
func (*back) PerLayerInputs(*tape.PerLayerInputs) error { return nil }

// Loss has a program of its own; see plan.go.
func (*back) Loss(*tape.Loss) error { return nil }

func (b *back) Norm(op *tape.Norm) error {
	w := (*walk)(b)
	x, dy := w.values[op.X], w.deltas[op.Out]
	dx, more := w.delta(op.X)
	w.each(func(r *ops.Recorder, i int) {
		r.RMSNormBack(ops.RMSNormBack{
			Label: "norm back", X: x.slice(i), DX: dx.slice(i), DY: dy.at(i), Weight: w.weights.Vector(op.Weight),
			Groups: w.tape.Shape(op.X).Width / op.Size, Size: op.Size, Eps: w.tape.Config.Eps, Add: more,
		})
	})
	w.dropDelta(op.Out)
	return nil
}

func (b *back) Copy(op *tape.Copy) error {
	w := (*walk)(b)
	dy := w.deltas[op.Out]
	dx, more := w.delta(op.X)
	w.each(func(r *ops.Recorder, i int) {
		r.Combine(ops.Combine{Label: "copy back", A: dy.at(i), Out: dx.at(i), OutRows: dx.columns(),
			Size: w.tape.Shape(op.Out).Width, Accumulate: more})
	})
	w.dropDelta(op.Out)
	return nil
}

func (b *back) Rotate(op *tape.Rotate) error {
	w := (*walk)(b)
	dy := w.deltas[op.Out]
	dx, more := w.delta(op.X)
	w.each(func(r *ops.Recorder, i int) {
		o := w.rotation(op, dy, dx, i)
		o.Label, o.Back, o.Add = "rotation back", true, more
		r.Rotate(o)
	})
	w.dropDelta(op.Out)
	return nil
}

func (b *back) Gate(op *tape.Gate) error {
	w := (*walk)(b)
	dy, size := w.deltas[op.Out], w.tape.Shape(op.Out).Width
	for _, part := range []struct {
		of   tape.Value
		isUp bool
	}{{op.Gate, false}, {op.Up, true}} {
		d, more := w.delta(part.of)
		if d == nil {
			continue
		}
		w.each(func(r *ops.Recorder, i int) {
			r.GateBack(ops.GateBack{
				Label: "gate back", Gate: w.values[op.Gate].lattice(i), Up: w.up(op, i), Out: d.lattice(i),
				DY: dy.at(i), Size: size, OfUp: part.isUp, Add: more,
			})
		})
	}
	w.dropDelta(op.Out)
	return nil
}

func (b *back) Add(op *tape.Add) error {
	w := (*walk)(b)
	dy := w.deltas[op.Out]
	for _, v := range op.Inputs() {
		d, more := w.delta(v)
		if d == nil {
			continue
		}
		w.each(func(r *ops.Recorder, i int) {
			r.Combine(ops.Combine{Label: "sum back", A: dy.at(i), Out: d.at(i), Size: d.row, Scale: op.Scale,
				Accumulate: more})
		})
	}
	w.dropDelta(op.Out)
	return nil
}
