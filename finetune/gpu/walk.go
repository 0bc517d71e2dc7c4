package gpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// view is where a value's rows lie in a tensor.
type view struct {
	*tensor             // nil while it waits
	offset, row, column int
	waiting             *waiting
}

// lattice and slice are the value's rows of window i.
func (v *view) lattice(i int) ops.Lattice {
	return ops.Lattice{Bind: v.at(i).All(), Offset: v.offset, Row: v.row, Column: v.column}
}

func (v *view) slice(i int) ops.Slice {
	return ops.Slice{Buffer: v.at(i), Offset: v.offset, Stride: v.row}
}

func (v *view) columns() ops.Columns { return ops.Columns{Row: v.row, Offset: v.offset} }

// walk goes through the tape in the order in which programs will run, and takes
// memory for values as they come, and records their ops. Its first error sticks.
type walk struct {
	*Machine
	plan     *plan
	pool     *pool
	recorder *ops.Recorder // of the program that is walked
	rows     int           // capacity of the half of the tape that is walked
	inputs   *rowInputs    // and what it reads of a batch

	values  []*view              // by tape.Value; nil where there is none at this point of the way
	deltas  []*view              // ∂loss/∂value so far
	fresh   map[tape.Value]bool  // of deltas that have memory, but nothing in it yet
	wide    map[tape.Value]*view // of values of all positions, while those of the asked ones stand in values
	done    map[*tensor]int      // how many values of a tensor only the way back reads any more
	aux     map[any]*tensor      // what an op keeps for its way back beside values
	section int
	err     error
}

// keep keeps the first error.
func (w *walk) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// record hands the recorder to f, unless something failed.
func (w *walk) record(f func(r *ops.Recorder)) {
	if w.err == nil {
		f(w.recorder)
	}
}

// each records f for all rows of the half at once, or window by window.
func (w *walk) each(f func(r *ops.Recorder, i int)) {
	w.record(func(r *ops.Recorder) {
		if w.rows <= w.plan.window {
			f(r, 0)
			return
		}
		for i, state := range w.inputs.windows {
			first := i * w.plan.window
			r.Window(first, min(w.plan.window, w.rows-first), state, func() { f(r, i) })
		}
	})
}

// take is memory for a value of so many numbers for each row of the half.
func (w *walk) take(width, refs int) *tensor { return w.takeRows(w.rows, width, refs) }

func (w *walk) takeRows(rows, width, refs int) *tensor {
	t, err := w.pool.take(rows, width, refs)
	if err != nil {
		w.keep(err)
		return &tensor{refs: refs} // so that the walk can go on to its end
	}
	return t
}

// takePiece is memory of so many numbers for what no binding has to be too small for.
func (w *walk) takePiece(values int) *piece {
	p, err := w.pool.piece(values)
	if err != nil {
		w.keep(err)
		return &piece{Buffer: new(wgslkit.Buffer)}
	}
	return p
}

// make gives a value memory of its own.
func (w *walk) make(v tape.Value) *view {
	width := w.tape.Shape(v).Width
	w.values[v] = &view{tensor: w.take(width, 1), row: width, column: 1}
	return w.values[v]
}

// delta is where a value's gradient is gathered, nil where nobody wants it, and
// whether something is there already.
func (w *walk) delta(v tape.Value) (at *view, more bool) {
	if !w.tape.Shape(v).Trained {
		return nil, false
	}
	if w.deltas[v] == nil && w.groupOf[v] != nil {
		w.takeGroup(w.groupOf[v])
	}
	if w.deltas[v] != nil {
		more = !w.fresh[v]
		delete(w.fresh, v)
		return w.deltas[v], more
	}
	width := w.tape.Shape(v).Width
	w.deltas[v] = &view{tensor: w.takeRows(w.rowsOf(v), width, 1), row: width, column: 1}
	return w.deltas[v], false
}

// rowsOf is the rows of a value's gradient: keys and values from below the split
// have all positions, whoever looks at them.
func (w *walk) rowsOf(v tape.Value) int {
	if w.home[v] < w.split && w.wide[v] == nil {
		return w.plan.tokens
	}
	return w.rows
}

// dropValue and dropDelta end a value's life.
func (w *walk) dropValue(v tape.Value) {
	if w.values[v] != nil {
		if at := w.values[v]; at.waiting != nil {
			at.waiting.drop(at, w.pool)
		} else {
			w.pool.drop(at.tensor)
		}
		w.values[v] = nil
	}
}

func (w *walk) dropDelta(v tape.Value) {
	if w.deltas[v] != nil {
		w.pool.drop(w.deltas[v].tensor)
		w.deltas[v] = nil
	}
}

// forward walks a section forward. again says that this is for the way back, of a
// section whose values were forgotten.
func (w *walk) forward(i int, again bool) {
	w.section = i
	forgotten := w.plan.recomputed(i) && !again
	s := &w.tape.Sections[i]
	for j, op := range s.Ops {
		if again && w.computed(op) {
			continue
		}
		w.keep(op.Run((*forward)(w)))
		for _, v := range op.Inputs() {
			if w.lastUse[v] != (use{i, j}) {
				continue
			}
			if !w.neededLater(v, forgotten) {
				w.dropValue(v)
			} else if _, read := op.(*tape.Loss); !again && !read { // the loss has a program of its own
				w.wait(v)
			}
		}
		if out := op.Output(); out != tape.None && w.lastUse[out] == (use{}) && !w.needed[out] {
			w.dropValue(out)
		}
	}
	if forgotten {
		w.forget(i, false)
	}
}

// computed says that an op's value outlived the forward pass.
func (w *walk) computed(op tape.Op) bool {
	out := op.Output()
	return out == tape.None || w.values[out] != nil
}

// neededLater says whether a value has to outlive its last use on the forward pass.
func (w *walk) neededLater(v tape.Value, forgotten bool) bool {
	if w.kept[v] {
		return w.needed[v] || w.plan.recompute > 0
	}
	return w.needed[v] && !forgotten
}

// forget drops what a section computed: all, or what no other section reads.
func (w *walk) forget(i int, all bool) {
	for _, op := range w.tape.Sections[i].Ops {
		if out := op.Output(); out != tape.None && (all || !w.kept[out]) {
			w.dropValue(out)
		}
		w.dropAux(op)
	}
}

func (w *walk) dropAux(op tape.Op) {
	var key any = op
	if l, ok := op.(*tape.Linear); ok {
		key = w.groups[l]
	}
	if t, ok := w.aux[key]; ok {
		w.pool.drop(t)
		delete(w.aux, key)
	}
}

// backward walks a section in reverse.
func (w *walk) backward(i int) {
	w.section = i
	w.wake(i)
	if w.plan.recomputed(i) {
		w.forward(i, true)
	}
	w.keep(w.tape.BackwardSection((*back)(w), i))
	w.forget(i, true)
}

// narrow leaves the asked positions alone of what the sections above the split
// read from below it.
func (w *walk) narrow() {
	for _, v := range w.crossing {
		wide := w.values[v]
		w.wide[v] = wide
		width := w.tape.Shape(v).Width
		narrow := &view{tensor: w.take(width, 1), row: width, column: 1}
		w.values[v] = narrow
		w.pick("asked positions", w.plan.inputs.asked, wide.tensor, narrow.tensor)
	}
}

// widen is the way back of narrow: what was not asked gets no gradient.
func (w *walk) widen() {
	for _, v := range w.crossing {
		w.dropValue(v)
		w.values[v] = w.wide[v]
		delete(w.wide, v)
		narrow := w.deltas[v]
		if narrow == nil {
			continue
		}
		w.deltas[v] = nil
		wide, _ := w.delta(v)
		w.pick("all positions", w.plan.inputs.places, narrow.tensor, wide.tensor)
		w.pool.drop(narrow.tensor)
	}
}

// pick records the choice of rows of x, wherever they lie.
func (w *walk) pick(label string, rows *wgslkit.Buffer, x, out *tensor) {
	w.each(func(r *ops.Recorder, i int) {
		for j, piece := range x.pieces {
			first, count := x.rowsOf(j)
			r.PickRows(ops.PickRows{Label: label, Rows: rows, X: piece.Buffer, Out: out.at(i), Size: x.row,
				First: first, Count: count, Keep: j > 0})
		}
	})
}
