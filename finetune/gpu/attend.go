package gpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

func (f *forward) Attend(op *tape.Attend) error {
	w := (*walk)(f)
	w.make(op.Out)
	w.aux[op] = w.take(2*op.Heads, 1)
	w.each(func(r *ops.Recorder, i int) {
		parts := w.ofQueries(op, i)
		for _, o := range parts {
			r.PackedStats(o)
		}
		for _, o := range parts {
			r.PackedValues(o)
		}
	})
	return nil
}

// ofQueries is the attention of window i's rows: an op for each piece of the keys.
func (w *walk) ofQueries(op *tape.Attend, i int) (parts []ops.PackedAttention) {
	k, v := w.values[op.K], w.values[op.V]
	for j := range k.pieces {
		first, count := k.rowsOf(j)
		if w.unseen(first, i) {
			break
		}
		o := w.attention(op, i)
		o.K, o.V, o.Part = k.pieces[j].Buffer, v.pieces[j].Buffer,
			ops.PackedPart{First: first, Count: count, More: j > 0}
		parts = append(parts, o)
	}
	return parts
}

// unseen says that no row of window i sees keys from first on: where rows are
// positions and all of them causal.
func (w *walk) unseen(first, i int) bool {
	return w.inputs == w.plan.inputs.lower && !w.tape.Config.BidirectionalImages() && first >= (i+1)*w.plan.window
}

// attention is the op over window i's rows, without its keys.
func (w *walk) attention(op *tape.Attend, i int) ops.PackedAttention {
	return ops.PackedAttention{
		Label: "attention", Q: w.values[op.Q].at(i),
		Visible: w.plan.inputs.window(w.inputs.of(op.Window).visible, 2, i),
		Stats:   w.aux[op].at(i), Out: w.values[op.Out].at(i), Heads: op.Heads, KVHeads: op.KVHeads,
		HeadDim: op.HeadDim,
		Scale:   op.Scale,
	}
}

func (b *back) Attend(op *tape.Attend) error {
	w := (*walk)(b)
	dy := w.deltas[op.Out]
	dq, moreQ := w.delta(op.Q)
	dk, moreK := w.delta(op.K)
	dv, moreV := w.delta(op.V)
	w.each(func(r *ops.Recorder, i int) {
		for j, part := range w.ofQueries(op, i) {
			r.PackedAttentionBack(ops.PackedAttentionBack{PackedAttention: part, DOut: dy.at(i), DQ: bufferOf(dq, i),
				AddQ: moreQ || j > 0, Again: j > 0})
		}
	})
	k, v := w.values[op.K], w.values[op.V]
	w.record(func(r *ops.Recorder) {
		for n := 0; n*w.plan.window < k.rows; n++ {
			begun := false
			for i := 0; i*w.plan.window < w.rows; i++ {
				if w.unseen(n*w.plan.window, i) {
					continue
				}
				o := w.attention(op, i)
				o.K, o.V, o.Part = k.at(n), v.at(n), w.queries(i)
				r.PackedAttentionBack(ops.PackedAttentionBack{
					PackedAttention: o, DOut: dy.at(i),
					SeenBy: w.plan.inputs.window(w.inputs.of(op.Window).seenBy, 2, n),
					Keys:   min(w.plan.window, k.rows-n*w.plan.window),
					DK:     bufferOf(dk, n), DV: bufferOf(dv, n), AddK: moreK || begun, AddV: moreV || begun,
					Again: true,
				})
				begun = true
			}
		}
	})
	w.dropDelta(op.Out)
	return nil
}

// queries says which rows window i has.
func (w *walk) queries(i int) ops.PackedPart {
	if w.rows <= w.plan.window {
		return ops.PackedPart{}
	}
	return ops.PackedPart{First: i * w.plan.window, Count: min(w.plan.window, w.rows-i*w.plan.window)}
}

func bufferOf(v *view, i int) *wgslkit.Buffer {
	if v == nil {
		return nil
	}
	return v.at(i)
}
