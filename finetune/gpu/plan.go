package gpu

import (
	"context"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// plan is the memory and the programs for batches of up to so many tokens and
// asked positions. It is made before the first batch of its size; a step makes
// nothing new.
type plan struct {
	tokens, asked int
	recompute     int // layers whose values are forgotten and computed again, from the first on
	pool          *pool
	inputs        *inputs

	ahead, aheadAsked *program // the tape below and above the split
	loss              *program // the head and its gradient, for a part of the asked positions
	backAsked, back   *program
	lossPart          int // the most asked positions of a replay of loss
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
	for _, program := range []*program{p.ahead, p.aheadAsked, p.loss, p.backAsked, p.back} {
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
func (m *Machine) newPlan(tokens, asked, recompute int) (*plan, error) {
	p := m.emptyPlan(tokens, asked, recompute)
	p.pool.device = m.kit.Device()
	err := m.record(p)
	if err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

func (m *Machine) record(p *plan) (err error) {
	if p.inputs, err = m.newInputs(p.tokens, p.asked); err != nil {
		return err
	}
	r := &recording{walk: m.newWalk(p)}
	return r.all()
}

func (m *Machine) emptyPlan(tokens, asked, recompute int) *plan {
	limits := m.kit.Device().Limits()
	return &plan{
		tokens: tokens, asked: asked, recompute: recompute, inputs: &inputs{lower: new(rowInputs), upper: new(rowInputs)},
		pool: &pool{limit: min(limits.MaxStorageBindingSize, limits.MaxBufferSize)},
	}
}

// planned is the bytes of values that a plan would take.
func (m *Machine) planned(tokens, asked, recompute int) (int64, error) {
	p := m.emptyPlan(tokens, asked, recompute)
	r := &recording{walk: m.newWalk(p)}
	err := r.all()
	return p.pool.bytes, err
}

func (m *Machine) newWalk(p *plan) *walk {
	n := len(m.tape.Values)
	return &walk{
		Machine: m, plan: p, pool: p.pool, values: make([]*view, n), deltas: make([]*view, n),
		fresh: map[tape.Value]bool{}, wide: map[tape.Value]*view{}, aux: map[any]*tensor{},
	}
}

// recording walks the whole tape there and back, a program at a time.
type recording struct {
	*walk
	first *ops.Recorder // whose scratch buffers all programs share
}

// all records every program, in the order in which they will run.
func (r *recording) all() error {
	p, last := r.plan, len(r.tape.Sections)-1
	r.rows, r.inputs = p.tokens, p.inputs.lower
	p.ahead = r.program("training ahead", r.rows, r.inputs.state, func(part func()) {
		for i := range r.split {
			r.forward(i, false)
			part()
		}
	})
	r.rows, r.inputs = p.asked, p.inputs.upper
	p.aheadAsked = r.program("training ahead, asked", r.rows, r.inputs.state, func(part func()) {
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
	if r.pool.device == nil {
		f(func() {})
		return p
	}
	r.recorder = r.kit.Record(label, rows, state)
	if r.first == nil {
		r.first = r.recorder
	}
	r.recorder.Share(r.first)
	f(func() { p.ends = append(p.ends, r.recorder.Recorded()) })
	recorded, err := r.recorder.Finish()
	if err != nil {
		r.keep(err)
		return nil
	}
	p.Recording = recorded
	return p
}

const (
	// lossRows is the most positions whose logits are there at once, and
	// lossBytes, where a device is small, what they may take.
	lossRows  = 128
	lossBytes = 128 << 20
)

// partOfLoss is the most positions whose logits are there at once.
func (r *recording) partOfLoss() int {
	return max(1, min(r.plan.asked, lossRows, int(min(lossBytes, r.pool.limit))/(4*r.tape.Config.Vocab)))
}

// head is the loss of a part of the asked positions at a time, so that the logits
// of all of them never exist at once: each part's logits become their gradients
// where they are. Its first part is the loss alone.
func (r *recording) head(part func()) {
	sections := r.tape.Sections
	list := sections[len(sections)-1].Ops
	op := list[len(list)-1].(*tape.Loss)
	c := r.tape.Config
	output, err := r.whole(r.tape.Model.Output)
	if err != nil {
		r.keep(err)
		return
	}
	p := r.plan
	d := c.EmbeddingLength
	x, logits := r.takeRows(p.lossPart, d, 1), r.takeRows(p.lossPart, c.Vocab, 1)
	all := r.values[op.X]
	r.record(func(rec *ops.Recorder) {
		rec.PickRows(ops.PickRows{Label: "part of the positions", Rows: p.inputs.order, X: all.Buffer, Out: x.Buffer, Size: d})
		rec.AllRows(ops.AllRows{Label: "output", W: output, X: ops.All(x.Buffer), Out: logits.Buffer, Softcap: c.LogitSoftcap})
		rec.CrossEntropy(ops.CrossEntropy{
			Label: "loss", Logits: logits.Buffer, Targets: p.inputs.targets, Losses: p.inputs.losses, Weight: p.inputs.weight,
			Size: c.Vocab, Cap: c.LogitSoftcap, Back: true,
		})
	})
	part()
	dx, _ := r.delta(op.X)
	r.record(func(rec *ops.Recorder) {
		rec.LinearBack(ops.LinearBack{Label: "output back", W: output, DY: ops.All(logits.Buffer), DX: ops.All(x.Buffer)})
		rec.PickRows(ops.PickRows{Label: "part of the positions", Rows: p.inputs.order, X: x.Buffer, Out: dx.Buffer, Size: d, Back: true})
	})
	part()
	r.pool.drop(x)
	r.pool.drop(logits)
}
