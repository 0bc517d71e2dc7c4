package gpu

import (
	"context"
	"math"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// size bounds batches: how many tokens and asked positions they have, and how many
// shares a position.
type size struct{ tokens, asked, shares int }

// sizeOf is a size for a batch. A few sizes serve all.
func sizeOf(batch *tape.Batch) size {
	return size{tokens: rowsFor(batch.Len()), asked: rowsFor(len(batch.Asked)), shares: batch.MostShares()}
}

// holds says that batches of another size fit.
func (s size) holds(o size) bool {
	return o.tokens <= s.tokens && o.asked <= s.asked && o.shares <= s.shares
}

// with is a size that holds both.
func (s size) with(o size) size {
	return size{max(s.tokens, o.tokens), max(s.asked, o.asked), max(s.shares, o.shares)}
}

// arrangement says what becomes of the values that the way back reads.
type arrangement struct {
	recompute int  // layers that forget theirs and compute them again, from the first on
	halves    bool // they wait as halves
}

// plan is the memory and the programs for batches of up to a size. It is made before
// the first batch of its size; a step makes nothing new.
type plan struct {
	size
	arrangement
	window int // rows that are computed at once: all, unless bindings hold fewer
	pool   *pool
	inputs *inputs
	bytes  int64 // values, inputs, and what ops need for themselves

	forward, forwardAsked *program // the tape below and above the split
	loss                  *program // the head and its gradient, for a part of the asked positions
	backAsked, back       *program
	lossPart              int // the most asked positions of a replay of loss
}

// recomputed says whether a section's values are computed again for the way back.
func (p *plan) recomputed(section int) bool { return section > 0 && section <= p.recompute }

// program is a recording that is submitted in parts.
type program struct {
	*ops.Recording
	ends []int // dispatches after each part
}

// submit replays the parts, unless ctx ends it in between.
func (p *program) submit(ctx context.Context, width int) error {
	first := 0
	for _, end := range p.ends {
		if err := ctx.Err(); err != nil {
			return err
		}
		if end > first {
			if err := p.SubmitPart(width, first, end); err != nil {
				return err
			}
		}
		first = end
	}
	return nil
}

func (p *program) release() {
	if p != nil {
		p.Recording.Release()
	}
}

func (p *plan) release() {
	if p == nil {
		return
	}
	for _, program := range []*program{p.forward, p.forwardAsked, p.loss, p.backAsked, p.back} {
		program.release()
	}
	p.inputs.release()
	p.pool.release()
}

// rowsFor rounds up to a capacity: a few sizes serve all batches.
func rowsFor(n int) int {
	step := ops.PackedTile
	for step*8 < n {
		step *= 2
	}
	return (n + step - 1) / step * step
}

// newPlan lays out and records a plan.
func (m *Machine) newPlan(s size, a arrangement) (*plan, error) {
	measured, err := m.record(m.emptyPlan(s, a), nil)
	if err != nil {
		return nil, err
	}
	p := m.emptyPlan(s, a)
	p.pool.device = m.kit.Device()
	if _, err := m.record(p, measured); err != nil {
		p.release()
		return nil, err
	}
	p.bytes = p.pool.bytes + p.inputs.bytes + measured.Scratch()
	return p, nil
}

// record lays out a plan and records its programs, or where there is nothing measured
// yet does as if, and returns what was.
func (m *Machine) record(p *plan, measured *ops.Recorder) (_ *ops.Recorder, err error) {
	if p.inputs, err = m.newInputs(p.pool.device, p.size, p.window); err != nil {
		return nil, err
	}
	r := &recording{walk: m.newWalk(p), measured: measured}
	err = r.all()
	return r.first, err
}

func (m *Machine) emptyPlan(s size, a arrangement) *plan {
	window := m.windowFor(max(s.tokens, s.asked))
	return &plan{size: s, arrangement: a, window: window,
		pool: &pool{limit: m.limit, window: window, rows: m.pieceRows}}
}

// windowStep is what the rows of a window are a multiple of: u32 of each begin where
// a binding may.
const windowStep = 64

// windowFor is how many of so many rows are computed at once: all, where a binding
// holds the widest value of all, or about equal shares.
func (m *Machine) windowFor(rows int) int {
	if m.widest == 0 {
		return rows
	}
	limits := m.kit.Device().Limits()
	most := int(min(m.limit/int64(4*m.widest), int64(limits.MaxWorkgroupsPerDimension)))
	if most >= rows {
		return rows
	}
	most = max(most/windowStep, 1) * windowStep
	windows := (rows + most - 1) / most
	return ((rows+windows-1)/windows + windowStep - 1) / windowStep * windowStep
}

// measureWidest finds how many values the widest row of a pass has.
func (m *Machine) measureWidest() error {
	m.widest = 0
	p := m.emptyPlan(size{tokens: windowStep, asked: windowStep, shares: 1}, arrangement{})
	p.pool.limit = math.MaxInt64
	if _, err := m.record(p, nil); err != nil {
		return err
	}
	m.widest = p.pool.widest
	return nil
}

// planned is the bytes that a plan would take: values, inputs, and what ops need for
// themselves.
func (m *Machine) planned(s size, a arrangement) (int64, error) {
	p := m.emptyPlan(s, a)
	measured, err := m.record(p, nil)
	if err != nil {
		return 0, err
	}
	return p.pool.bytes + p.inputs.bytes + measured.Scratch(), nil
}

func (m *Machine) newWalk(p *plan) *walk {
	n := len(m.tape.Values)
	return &walk{
		Machine: m, plan: p, pool: p.pool, values: make([]*view, n), deltas: make([]*view, n),
		fresh: map[tape.Value]bool{}, done: map[*tensor]int{}, wide: map[tape.Value]*view{}, aux: map[any]*tensor{},
	}
}

// recording walks the whole tape there and back, a program at a time.
type recording struct {
	*walk
	first    *ops.Recorder // whose scratch buffers all programs share
	measured *ops.Recorder // nil while a plan is only made
}

// all records every program, in the order in which they will run.
func (r *recording) all() error {
	p, last := r.plan, len(r.tape.Sections)-1
	r.rows, r.inputs = p.tokens, p.inputs.lower
	p.forward = r.program("training forward", r.rows, r.inputs.state, func(part func()) {
		for i := range r.split {
			r.forward(i, false)
			part()
		}
	})
	r.rows, r.inputs = p.asked, p.inputs.upper
	p.forwardAsked = r.program("training forward, asked", r.rows, r.inputs.state, func(part func()) {
		r.narrow()
		for i := r.split; i <= last; i++ {
			r.forward(i, false)
			part()
		}
	})
	p.lossPart = r.partOfLoss()
	p.loss = r.program("loss", p.lossPart, p.inputs.part, r.head)
	p.backAsked = r.program("training back, asked", r.rows, r.inputs.state, func(part func()) {
		for i := last; i >= r.split; i-- {
			r.backwardIfTrained(i)
			part()
		}
	})
	r.rows, r.inputs = p.tokens, p.inputs.lower
	p.back = r.program("training back", r.rows, r.inputs.state, func(part func()) {
		r.widen()
		for i := r.split - 1; i >= 0; i-- {
			r.backwardIfTrained(i)
			part()
		}
	})
	return r.err
}

func (r *recording) backwardIfTrained(i int) {
	if r.tape.Sections[i].Trained {
		r.backward(i)
		return
	}
	r.forget(i, true)
}

// program records what f walks; f tells where a part ends.
func (r *recording) program(label string, rows int, state *wgslkit.Buffer, f func(part func())) *program {
	p := new(program)
	if r.recorder = r.kit.Measure(rows); r.measured != nil {
		r.recorder = r.kit.Record(label, rows, state)
		r.recorder.Reserve(r.measured)
	}
	if r.first == nil {
		r.first = r.recorder
	}
	r.recorder.Share(r.first)
	f(func() { p.ends = append(p.ends, r.recorder.Recorded()) })
	if r.measured == nil {
		r.keep(r.recorder.Err())
		return p
	}
	recorded, err := r.recorder.Finish()
	if err != nil {
		r.keep(err)
		return nil
	}
	p.Recording = recorded
	return p
}

const (
	// lossRows is the most positions whose logits are there at once, and mostLossBytes
	// what they may take.
	lossRows      = 128
	mostLossBytes = 64 << 20
)

// partOfLoss is the most positions whose logits are there at once.
func (r *recording) partOfLoss() int { return min(r.plan.asked, lossRows) }

// tileOfLoss is for how much of the vocabulary they are.
func (r *recording) tileOfLoss() int {
	fit := int(min(r.lossBytes, r.pool.limit)) / (4 * r.plan.lossPart)
	if vocab := r.tape.Config.Vocab; vocab <= fit {
		return vocab
	}
	return max(1, fit/ops.PartRows) * ops.PartRows
}

// head is the loss of a part of the asked positions at a time, by tiles of the
// vocabulary, so that the logits of all never exist at once: a tile's logits become
// their gradients where they are. Its first part is the loss alone; for the second,
// the logits of all tiles but the last are computed again.
func (r *recording) head(part func()) {
	sections := r.tape.Sections
	list := sections[len(sections)-1].Ops
	op := list[len(list)-1].(*tape.Loss)
	output, err := r.whole(r.tape.Model.Output)
	if err != nil {
		r.keep(err)
		return
	}
	p := r.plan
	d, tile, vocab := r.tape.Config.EmbeddingLength, r.tileOfLoss(), r.tape.Config.Vocab
	h := &lossHead{recording: r, output: output, x: r.takePiece(p.lossPart * d), logits: r.takePiece(p.lossPart * tile),
		sums: r.takePiece(p.lossPart * 3)}
	all := r.values[op.X]
	r.record(func(rec *ops.Recorder) {
		for j, piece := range all.pieces {
			first, count := all.rowsOf(j)
			rec.PickRows(ops.PickRows{Label: "part of the positions", Rows: p.inputs.order, X: piece.Buffer,
				Out: h.x.Buffer, Size: d, First: first, Count: count, Keep: j > 0})
		}
		for first := 0; first < vocab; first += tile {
			h.forward(rec, first, min(tile, vocab-first))
		}
	})
	part()
	dx, _ := r.delta(op.X)
	sum := r.takePiece(p.lossPart * d)
	r.record(func(rec *ops.Recorder) {
		last := (vocab - 1) / tile * tile
		for first := last; first >= 0; first -= tile {
			h.back(rec, first, min(tile, vocab-first), first == last, sum)
		}
		for j, piece := range dx.pieces {
			first, count := dx.rowsOf(j)
			rec.PickRows(ops.PickRows{Label: "part of the positions", Rows: p.inputs.order, X: sum.Buffer,
				Out: piece.Buffer, Size: d, Back: true, First: first, Count: count})
		}
	})
	part()
	r.pool.free = append(r.pool.free, h.x, h.logits, h.sums, sum)
}

// lossHead is the head with its loss, for a part of the asked positions.
type lossHead struct {
	*recording
	output          *ops.Matrix
	x, logits, sums *piece
}

func (h *lossHead) product(rec *ops.Recorder, w *ops.Matrix) {
	rec.AllRows(ops.AllRows{Label: "output", W: w, X: ops.All(h.x.Buffer), Out: h.logits.Buffer,
		Softcap: h.tape.Config.LogitSoftcap})
}

func (h *lossHead) loss(first, rows int, back bool) ops.CrossEntropy {
	in := h.plan.inputs
	return ops.CrossEntropy{
		Label: "loss", Logits: h.logits.Buffer, Goals: in.goals, Sums: h.sums.Buffer, Losses: in.losses,
		Weight: in.weight,
		First:  first, Size: rows, Last: first+rows == h.tape.Config.Vocab, Shares: in.shares,
		Cap: h.tape.Config.LogitSoftcap, Back: back,
	}
}

// forward sees a tile of the vocabulary.
func (h *lossHead) forward(rec *ops.Recorder, first, rows int) {
	h.product(rec, h.output.Part(first, rows))
	rec.CrossEntropy(h.loss(first, rows, false))
}

// back adds what a tile hands back; there says that its logits still are.
func (h *lossHead) back(rec *ops.Recorder, first, rows int, there bool, sum *piece) {
	w := h.output.Part(first, rows)
	if !there {
		h.product(rec, w)
	}
	rec.CrossEntropy(h.loss(first, rows, true))
	rec.LinearBack(ops.LinearBack{Label: "output back", W: w, DY: ops.All(h.logits.Buffer), DX: ops.All(sum.Buffer),
		Add: !there})
}
