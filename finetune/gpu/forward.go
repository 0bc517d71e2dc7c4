package gpu

import (
	"math"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// forward records ops forward, back their gradients.
type (
	forward walk
	back    walk
)

// Embed is of tokens by a look-up on the GPU, or of rows that the host has put
// there; soft tokens stand over them.
func (f *forward) Embed(op *tape.Embed) error {
	w := (*walk)(f)
	out, in, d := w.make(op.Out), w.plan.inputs, w.tape.Config.EmbeddingLength
	w.each(func(r *ops.Recorder, i int) {
		w.rowsOfTable(r, i, w.tape.Model.TokenEmbd, w.tape.Config.EmbedScale(), in.embedded, out)
		r.Overlay(ops.Overlay{Label: "soft tokens", Marks: in.window(in.softMarks, 1, i), Rows: in.softRows[i],
			Out: out.at(i), Size: d})
	})
	return nil
}

// rowsOfTable records the look-up of a row for each token of window i, of a table on
// the GPU, or of rows that the host has looked up.
func (w *walk) rowsOfTable(r *ops.Recorder, i int, t *gguf.Tensor, scale float32, host *hostRows, out *view) {
	if table, ok := w.weights.Matrix(t); ok {
		r.Embed(ops.Embed{Label: t.Name, Table: table.Matrix, IDs: w.plan.inputs.window(w.plan.inputs.ids, 1, i),
			Out: out.at(i), Scale: scale})
		return
	}
	r.Combine(ops.Combine{Label: t.Name, A: host.windows[i], Out: out.at(i), Size: t.RowLen()})
}

func (f *forward) PerLayerInputs(op *tape.PerLayerInputs) error {
	w := (*walk)(f)
	c, m := w.tape.Config, w.tape.Model
	width := c.Blocks * c.PerLayerDim
	projected, rows := w.take(width, 1), &view{tensor: w.take(width, 1), row: width, column: 1}
	out := w.make(op.Out)
	project, err := w.whole(m.PerLayerModelProj)
	if err != nil {
		return err
	}
	x := w.values[op.X]
	w.each(func(r *ops.Recorder, i int) {
		r.AllRows(ops.AllRows{Label: "per_layer_model_proj", W: project, X: x.slice(i), Out: projected.at(i)})
		w.rowsOfTable(r, i, m.PerLayerTokenEmbd, c.PerLayerScale(), w.plan.inputs.perLayer, rows)
		r.NormAdd(ops.NormAdd{
			Label: "per_layer_inputs", A: projected.at(i), B: rows.at(i), Out: out.at(i),
			Weight: w.weights.Vector(m.PerLayerProjNorm),
			Groups: c.Blocks, Size: c.PerLayerDim, Eps: c.Eps, AScale: 1 / c.EmbedScale(), BScale: 1,
			OutScale: float32(1 / math.Sqrt2),
		})
	})
	w.pool.drop(projected)
	w.pool.drop(rows.tensor)
	return nil
}

func (f *forward) Norm(op *tape.Norm) error {
	w := (*walk)(f)
	x, out := w.values[op.X], w.make(op.Out)
	w.each(func(r *ops.Recorder, i int) {
		r.RMSNorm(ops.RMSNorm{
			Label: "norm", X: x.at(i), XOffset: x.offset, XStride: x.row, Y: out.at(i),
			Weight: w.weights.Vector(op.Weight),
			Groups: w.tape.Shape(op.X).Width / op.Size, Size: op.Size, Eps: w.tape.Config.Eps,
		})
	})
	return nil
}

// Copy takes a part of a product's rows that lie beside others.
func (f *forward) Copy(op *tape.Copy) error {
	w := (*walk)(f)
	x, out := w.values[op.X], w.make(op.Out)
	w.each(func(r *ops.Recorder, i int) {
		r.Combine(ops.Combine{Label: "copy", A: x.at(i), ARows: x.columns(), Out: out.at(i), Size: out.row})
	})
	return nil
}

func (f *forward) Rotate(op *tape.Rotate) error {
	w := (*walk)(f)
	x, out := w.values[op.X], w.make(op.Out)
	w.each(func(r *ops.Recorder, i int) { r.Rotate(w.rotation(op, x, out, i)) })
	return nil
}

func (w *walk) rotation(op *tape.Rotate, x, y *view, i int) ops.Rotate {
	return ops.Rotate{
		Label: "rotation", X: x.at(i), Y: y.at(i), Positions: w.plan.inputs.window(w.inputs.positions, 1, i),
		Rope: w.weights.Rope(op.Layer), Heads: op.Heads, HeadDim: op.HeadDim,
	}
}

func (f *forward) Gate(op *tape.Gate) error {
	w := (*walk)(f)
	out := w.make(op.Out)
	w.each(func(r *ops.Recorder, i int) {
		r.Gate(ops.Gate{Label: "gate", Gate: w.values[op.Gate].lattice(i), Up: w.up(op, i), Out: out.lattice(i),
			Size: out.row})
	})
	return nil
}

// up is the values of op.Up that the gate multiplies.
func (w *walk) up(op *tape.Gate, i int) ops.Lattice {
	up := w.values[op.Up].lattice(i)
	up.Offset += op.UpOffset * up.Column
	return up
}

func (f *forward) Add(op *tape.Add) error {
	w := (*walk)(f)
	a, b, out := w.values[op.A], w.values[op.B], w.make(op.Out)
	w.each(func(r *ops.Recorder, i int) {
		r.Combine(ops.Combine{Label: "sum", A: a.at(i), B: b.at(i), Out: out.at(i), Size: out.row, Scale: op.Scale})
	})
	return nil
}

// Loss has a program of its own; see plan.go.
func (f *forward) Loss(*tape.Loss) error { return nil }
