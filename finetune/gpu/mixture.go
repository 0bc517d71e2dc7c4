package gpu

import (
	"fmt"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// mixture is one mixture of experts on its way. Only the chosen experts' rows are
// read, there and back, and for all tokens that chose an expert together. For the way
// back all of it is computed again: between the two, nothing is kept.
type mixture struct {
	*walk
	op                   *tape.Mixture
	router, gateUp, down *ops.Matrix
	logits               *tensor           // [experts]
	ids, weights         *tensor           // [chosen]
	both                 *tensor           // [chosen, 2·size]: gate and up of each expert, in turns
	hidden               *tensor           // [chosen, size]
	grouped              *ops.ExpertGroups // of all rows, if they are not in windows
}

// groups are the rows of window i by expert. A recorder has one window's at a time.
func (m *mixture) groups(r *ops.Recorder, i int) *ops.ExpertGroups {
	if m.grouped == nil || m.ids.windowed() {
		c := m.tape.Config
		m.grouped = r.GroupExperts(ops.GroupExperts{Label: "choice by expert", IDs: m.ids.at(i), Experts: c.Experts,
			K: c.ExpertsUsed})
	}
	return m.grouped
}

// size is the width of an expert, inner that of all chosen ones together.
func (m *mixture) size() int  { return m.tape.Config.ExpertFeedForward }
func (m *mixture) inner() int { return m.tape.Config.ExpertsUsed * m.size() }

// gate and up are the values of all chosen experts, one behind the other, in a tensor
// that has them in turns.
func (m *mixture) gate(b *wgslkit.Buffer) ops.Lattice {
	return ops.Lattice{Bind: b.All(), Row: 2 * m.inner(), Column: 2}
}

func (m *mixture) up(b *wgslkit.Buffer) ops.Lattice {
	l := m.gate(b)
	l.Offset = 1
	return l
}

// expertsOf finds the matrices of all mixtures.
func (m *Machine) expertsOf() error {
	for i := range m.tape.Sections {
		for _, op := range m.tape.Sections[i].Ops {
			mixture, ok := op.(*tape.Mixture)
			if !ok {
				continue
			}
			e := mixture.Experts
			for _, t := range []*gguf.Tensor{e.Router, gateOf(e), e.Down} {
				rows, ok := m.weights.Matrix(t)
				if !ok {
					return fmt.Errorf("%w: %s is not on the GPU", ErrUnsupported, t.Name)
				}
				m.experts[t.Name] = rows.Matrix
			}
		}
	}
	return nil
}

// gateOf is the tensor that names the matrix of gate and up.
func gateOf(e *arch.Experts) *gguf.Tensor {
	if e.GateUp != nil {
		return e.GateUp
	}
	return e.Gate
}

// mixture takes memory for a mixture and computes it as far as what its experts' last
// product reads.
func (w *walk) mixture(op *tape.Mixture) *mixture {
	c, e := w.tape.Config, op.Experts
	m := &mixture{walk: w, op: op, logits: w.take(c.Experts, 1), ids: w.take(c.ExpertsUsed, 1),
		weights: w.take(c.ExpertsUsed, 1)}
	m.both, m.hidden = w.take(2*m.inner(), 1), w.take(m.inner(), 1)
	m.router, m.gateUp, m.down = w.experts[e.Router.Name], w.experts[gateOf(e).Name], w.experts[e.Down.Name]
	x, h := w.values[op.X], w.values[op.H]
	w.each(func(r *ops.Recorder, i int) {
		r.Linear(ops.Linear{
			Label: "router", W: m.router, Out: m.logits.at(i),
			In: ops.Input{X: x.at(i), Offset: x.offset, Stride: x.row,
				Norm: &ops.Norm{Weight: w.weights.Vector(e.RouterScale), Eps: c.Eps, Scale: 1 / c.EmbedScale()}},
		})
		r.Router(ops.Router{
			Label: "choice", Logits: m.logits.at(i), Experts: c.Experts, K: c.ExpertsUsed,
			Scale: w.weights.Vector(e.DownScale), IDs: m.ids.at(i), Weights: m.weights.at(i),
		})
		r.ExpertLinear(ops.ExpertLinear{
			Label: "experts' gate and up", W: m.gateUp, K: c.ExpertsUsed, IDs: m.ids.at(i), Groups: m.groups(r, i),
			AllRows: true,
			In:      ops.Input{X: h.at(i), Offset: h.offset, Stride: h.row}, Out: m.both.at(i),
		})
		r.Gate(ops.Gate{
			Label: "experts' gate", Gate: m.gate(m.both.at(i)), Up: m.up(m.both.at(i)),
			Out: ops.Rows(m.hidden.at(i), m.inner()), Size: m.inner(),
		})
	})
	return m
}

func (m *mixture) drop() {
	for _, t := range []*tensor{m.logits, m.ids, m.weights, m.both, m.hidden} {
		m.pool.drop(t)
	}
}

func (f *forward) Mixture(op *tape.Mixture) error {
	w := (*walk)(f)
	out := w.make(op.Out)
	m := w.mixture(op)
	w.each(func(r *ops.Recorder, i int) {
		r.ExpertLinear(ops.ExpertLinear{
			Label: "experts' down", W: m.down, K: w.tape.Config.ExpertsUsed, IDs: m.ids.at(i), Groups: m.groups(r, i),
			PerSlotInput: true,
			In:           ops.Input{X: m.hidden.at(i)}, Out: out.at(i), Weights: m.weights.at(i),
		})
	})
	m.drop()
	return nil
}

// Mixture hands back to h through the experts, and to x through their weights.
func (b *back) Mixture(op *tape.Mixture) error {
	w := (*walk)(b)
	c, dy := w.tape.Config, w.deltas[op.Out]
	m := w.mixture(op)
	grads, dLogits, dRouted := w.take(m.inner(), 1), w.take(c.Experts, 1), w.take(c.EmbeddingLength, 1)
	w.each(func(r *ops.Recorder, i int) {
		r.ExpertBack(ops.ExpertBack{Label: "experts' down back", W: m.down, K: c.ExpertsUsed, IDs: m.ids.at(i),
			Groups: m.groups(r, i), DY: dy.at(i), DX: grads.at(i)})
		r.RouterBack(ops.RouterBack{
			Label: "choice back", Logits: m.logits.at(i), IDs: m.ids.at(i), Weights: m.weights.at(i),
			Hidden: m.hidden.at(i), Grads: grads.at(i),
			DLogits: dLogits.at(i), Experts: c.Experts, K: c.ExpertsUsed, Size: m.size(),
		})
		r.LinearBack(ops.LinearBack{Label: "router back", W: m.router, DY: ops.All(dLogits.at(i)),
			DX: ops.All(dRouted.at(i))})
	})
	m.backToInput(grads)
	if dx, more := w.delta(op.X); dx != nil {
		x := w.values[op.X]
		w.each(func(r *ops.Recorder, i int) {
			r.RMSNormBack(ops.RMSNormBack{
				Label: "router's norm back", X: x.slice(i), DX: dx.slice(i), DY: dRouted.at(i),
				Weight: w.weights.Vector(op.Experts.RouterScale),
				Size:   c.EmbeddingLength, Eps: c.Eps, Scale: 1 / c.EmbedScale(), Add: more,
			})
		})
	}
	m.drop()
	for _, t := range []*tensor{grads, dLogits, dRouted} {
		w.pool.drop(t)
	}
	w.dropDelta(op.Out)
	return nil
}

// backToInput hands back to h what its experts' hidden values get.
func (m *mixture) backToInput(grads *tensor) {
	dh, more := m.delta(m.op.H)
	if dh == nil {
		return
	}
	back := m.take(2*m.inner(), 1)
	m.each(func(r *ops.Recorder, i int) {
		gate, up := m.gate(m.both.at(i)), m.up(m.both.at(i))
		o := ops.GateBack{Label: "experts' gate back", Gate: gate, Up: up, Out: m.gate(back.at(i)), DY: grads.at(i),
			Size: m.inner()}
		r.GateBack(o)
		o.Out, o.OfUp = m.up(back.at(i)), true
		r.GateBack(o)
		r.ExpertBack(ops.ExpertBack{
			Label: "experts' gate and up back", W: m.gateUp, K: m.tape.Config.ExpertsUsed, IDs: m.ids.at(i),
			Groups: m.groups(r, i), DY: back.at(i), DX: dh.at(i), Sum: true, Add: more,
		})
	})
	m.pool.drop(back)
}
