package gpu

import (
	"slices"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// waiting is a tensor that waits as halves for the way back, with the views of the
// values in it.
type waiting struct {
	words *tensor
	row   int // values of a row
	views []*view
}

// drop ends one value's wait.
func (h *waiting) drop(at *view, p *pool) {
	h.views = slices.DeleteFunc(h.views, func(v *view) bool { return v == at })
	p.drop(h.words)
}

// wait stores a value as halves, with all others of its tensor, once the forward pass
// reads none of them any more. A value from below the split that sections above it
// read has other rows than their programs and stays as it is.
func (w *walk) wait(v tape.Value) {
	at := w.values[v]
	below := w.home[v] < w.split
	if !w.plan.halves || at == nil || at.tensor == nil || w.wide[v] != nil ||
		below != (w.lastUse[v].section < w.split) {
		return
	}
	t := at.tensor
	if w.done[t]++; w.done[t] < t.refs {
		return
	}
	delete(w.done, t)
	h := &waiting{words: w.take(ops.HalfWords(at.row), t.refs), row: at.row}
	w.each(func(r *ops.Recorder, i int) {
		r.HalfRows(ops.HalfRows{Label: "as halves", X: t.at(i), Words: h.words.at(i), Size: h.row})
	})
	for _, other := range w.values {
		if other != nil && other.tensor == t {
			other.tensor, other.waiting = nil, h
			h.views = append(h.views, other)
			w.pool.drop(t)
		}
	}
}

// wake makes float32 again of what a section's way back reads, or its forward pass where
// that is computed again.
func (w *walk) wake(i int) {
	for _, op := range w.tape.Sections[i].Ops {
		for _, v := range neededBack(w.tape, op) {
			w.wakeValue(v)
		}
		if w.plan.recomputed(i) {
			for _, v := range op.Inputs() {
				w.wakeValue(v)
			}
		}
	}
}

func (w *walk) wakeValue(v tape.Value) {
	at := w.values[v]
	if at == nil || at.waiting == nil {
		return
	}
	h := at.waiting
	t := w.take(h.row, len(h.views))
	w.each(func(r *ops.Recorder, i int) {
		r.HalfRows(ops.HalfRows{Label: "as float32", X: t.at(i), Words: h.words.at(i), Size: h.row, Back: true})
	})
	for _, other := range h.views {
		other.tensor, other.waiting = t, nil
		w.pool.drop(h.words)
	}
}
