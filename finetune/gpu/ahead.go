package gpu

import (
	"math"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// ahead records ops forward, back their gradients.
type (
	ahead walk
	back  walk
)

// Embed is of tokens by a look-up on the GPU, or of rows that the host has put
// there; soft tokens stand over them.
func (f *ahead) Embed(op *tape.Embed) error {
	w := (*walk)(f)
	out, in, d := w.make(op.Out), w.plan.inputs, w.tape.Config.EmbeddingLength
	w.record(func(r *ops.Recorder) {
		w.rowsOfTable(r, w.tape.Model.TokenEmbd, w.tape.Config.EmbedScale(), in.embedded, out)
		r.Overlay(ops.Overlay{Label: "soft tokens", Marks: in.softMarks, Rows: in.softRows, Out: out.Buffer, Size: d})
	})
	return nil
}

// rowsOfTable records the look-up of a row for each token, of a table on the GPU,
// or of rows that the host has looked up.
func (w *walk) rowsOfTable(r *ops.Recorder, t *gguf.Tensor, scale float32, host *hostRows, out *view) {
	if table, ok := w.weights.Matrix(t); ok {
		r.Embed(ops.Embed{Label: t.Name, Table: table.Matrix, IDs: w.plan.inputs.ids, Out: out.Buffer, Scale: scale})
		return
	}
	r.Combine(ops.Combine{Label: t.Name, A: host.Buffer, Out: out.Buffer, Size: t.RowLen()})
}

func (f *ahead) PerLayerInputs(op *tape.PerLayerInputs) error {
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
	w.record(func(r *ops.Recorder) {
		r.AllRows(ops.AllRows{Label: "per_layer_model_proj", W: project, X: x.slice(), Out: projected.Buffer})
		w.rowsOfTable(r, m.PerLayerTokenEmbd, c.PerLayerScale(), w.plan.inputs.perLayer, rows)
		r.NormAdd(ops.NormAdd{
			Label: "per_layer_inputs", A: projected.Buffer, B: rows.Buffer, Out: out.Buffer, Weight: w.weights.Vector(m.PerLayerProjNorm),
			Groups: c.Blocks, Size: c.PerLayerDim, Eps: c.Eps, AScale: 1 / c.EmbedScale(), BScale: 1, OutScale: float32(1 / math.Sqrt2),
		})
	})
	w.pool.drop(projected)
	w.pool.drop(rows.tensor)
	return nil
}

func (f *ahead) Norm(op *tape.Norm) error {
	w := (*walk)(f)
	x, out := w.values[op.X], w.make(op.Out)
	w.record(func(r *ops.Recorder) {
		r.RMSNorm(ops.RMSNorm{
			Label: "norm", X: x.Buffer, XOffset: x.offset, XStride: x.row, Y: out.Buffer, Weight: w.weights.Vector(op.Weight),
			Groups: w.tape.Shape(op.X).Width / op.Size, Size: op.Size, Eps: w.tape.Config.Eps,
		})
	})
	return nil
}

func (f *ahead) Rotate(op *tape.Rotate) error {
	w := (*walk)(f)
	x, out := w.values[op.X], w.make(op.Out)
	w.record(func(r *ops.Recorder) { r.Rotate(w.rotation(op, x, out)) })
	return nil
}

func (w *walk) rotation(op *tape.Rotate, x, y *view) ops.Rotate {
	return ops.Rotate{
		Label: "rotation", X: x.Buffer, Y: y.Buffer, Positions: w.inputs.positions, Rope: w.weights.Rope(op.Layer), Heads: op.Heads, HeadDim: op.HeadDim,
	}
}

func (f *ahead) Attend(op *tape.Attend) error {
	w := (*walk)(f)
	w.make(op.Out)
	w.aux[op] = w.take(2*op.Heads, 1)
	w.record(func(r *ops.Recorder) { r.PackedAttention(w.attention(op)) })
	return nil
}

func (w *walk) attention(op *tape.Attend) ops.PackedAttention {
	return ops.PackedAttention{
		Label: "attention", Q: w.values[op.Q].Buffer, K: w.values[op.K].Buffer, V: w.values[op.V].Buffer, Visible: w.inputs.of(op.Window).visible,
		Stats: w.aux[op].Buffer, Out: w.values[op.Out].Buffer, Heads: op.Heads, KVHeads: op.KVHeads, HeadDim: op.HeadDim, Scale: 1,
	}
}

func (f *ahead) Gate(op *tape.Gate) error {
	w := (*walk)(f)
	out := w.make(op.Out)
	w.record(func(r *ops.Recorder) {
		r.Gate(ops.Gate{Label: "gate", Gate: w.values[op.Gate].lattice(), Up: w.up(op), Out: out.lattice(), Size: out.row})
	})
	return nil
}

// up is the values of op.Up that the gate multiplies.
func (w *walk) up(op *tape.Gate) ops.Lattice {
	up := w.values[op.Up].lattice()
	up.Offset += op.UpOffset * up.Column
	return up
}

func (f *ahead) Add(op *tape.Add) error {
	w := (*walk)(f)
	a, b, out := w.values[op.A], w.values[op.B], w.make(op.Out)
	w.record(func(r *ops.Recorder) {
		r.Combine(ops.Combine{Label: "sum", A: a.Buffer, B: b.Buffer, Out: out.Buffer, Size: out.row, Scale: op.Scale})
	})
	return nil
}

// Loss has a program of its own; see plan.go.
func (f *ahead) Loss(*tape.Loss) error { return nil }
