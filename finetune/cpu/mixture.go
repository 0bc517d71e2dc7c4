package cpu

import (
	"cmp"
	"math"
	"slices"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/arch"
	base "github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/gguf"
)

// mixture computes one mixture of experts.
type mixture struct {
	*pass
	e                      *arch.Experts
	routerScale, downScale []float32
}

func (p *pass) mixture(op *tape.Mixture) (*mixture, error) {
	m := &mixture{pass: p, e: op.Experts}
	var err error
	if m.routerScale, err = p.vector(op.Experts.RouterScale); err != nil {
		return nil, err
	}
	m.downScale, err = p.vector(op.Experts.DownScale)
	return m, err
}

// choice is an expert chosen for a position: share is its part of the chosen
// ones' softmax, weight that times the expert's own scale.
type choice struct {
	expert        int
	share, weight float32
}

// routed is rms(x)/√d ⊙ scale, what the router looks at.
func (m *mixture) routed(x []float32) []float32 {
	h := make([]float32, len(x))
	base.RMSNormPlain(h, x, len(x), m.tape.Config.Eps)
	for j := range h {
		h[j] *= m.routerScale[j] / m.tape.Config.EmbedScale()
	}
	return h
}

// choose lists the experts for a position, the likeliest first. A softmax over
// all, renormalised over the chosen, is the softmax over the chosen.
func (m *mixture) choose(x []float32) ([]choice, error) {
	c := m.tape.Config
	logits := make([]float32, c.Experts)
	if err := m.cores.Mul(1, m.matrix(m.e.Router), m.routed(x), logits); err != nil {
		return nil, err
	}
	chosen := make([]choice, c.Experts)
	for i := range chosen {
		chosen[i].expert = i
	}
	slices.SortStableFunc(chosen, func(a, b choice) int { return cmp.Compare(logits[b.expert], logits[a.expert]) })
	chosen = chosen[:c.ExpertsUsed]
	var sum float64
	for _, k := range chosen {
		sum += math.Exp(float64(logits[k.expert] - logits[chosen[0].expert]))
	}
	for i := range chosen {
		k := &chosen[i]
		k.share = float32(math.Exp(float64(logits[k.expert]-logits[chosen[0].expert])) / sum)
		k.weight = k.share * m.downScale[k.expert]
	}
	return chosen, nil
}

// rowsOf are the rows of one expert in a stack of matrices.
type rowsOf struct {
	base.Matrix
	first, rows int
}

func (m *mixture) matrices(expert int) (gate, up, down rowsOf) {
	ffe, d := m.tape.Config.ExpertFeedForward, m.tape.Config.EmbeddingLength
	of := func(t *gguf.Tensor, stride, offset, n int) rowsOf {
		return rowsOf{m.matrix(t), expert*stride + offset, n}
	}
	if m.e.GateUp != nil {
		gate, up = of(m.e.GateUp, 2*ffe, 0, ffe), of(m.e.GateUp, 2*ffe, ffe, ffe)
	} else {
		gate, up = of(m.e.Gate, ffe, 0, ffe), of(m.e.Up, ffe, 0, ffe)
	}
	return gate, up, of(m.e.Down, d, 0, d)
}

// mul is W·x.
func (w rowsOf) mul(x []float32) ([]float32, error) {
	y, row := make([]float32, w.rows), make([]float32, w.Cols())
	for r := range y {
		if err := w.Read(row, w.first+r); err != nil {
			return nil, err
		}
		y[r] = base.Dot(row, x)
	}
	return y, nil
}

// mulTransposed is Wᵀ·dy.
func (w rowsOf) mulTransposed(dy []float32) ([]float32, error) {
	dx, row := make([]float32, w.Cols()), make([]float32, w.Cols())
	for r, g := range dy {
		if err := w.Read(row, w.first+r); err != nil {
			return nil, err
		}
		base.Axpy(g, row, dx)
	}
	return dx, nil
}

// expert is one expert's feed-forward of one position, with what its gradient needs.
type expert struct {
	gate, up, down rowsOf
	g, u, y        []float32 // gate·h, up·h and the output
}

func (m *mixture) expert(i int, h []float32) (*expert, error) {
	e := new(expert)
	e.gate, e.up, e.down = m.matrices(i)
	var err error
	if e.g, err = e.gate.mul(h); err != nil {
		return nil, err
	}
	if e.u, err = e.up.mul(h); err != nil {
		return nil, err
	}
	hidden := make([]float32, len(e.g))
	for j := range hidden {
		hidden[j] = kernel.Gelu(e.g[j]) * e.u[j]
	}
	e.y, err = e.down.mul(hidden)
	return e, err
}

// back adds the gradient of the expert's input, dy that of its output.
func (e *expert) back(dy, dh []float32) error {
	dHidden, err := e.down.mulTransposed(dy)
	if err != nil {
		return err
	}
	dg, du := make([]float32, len(dHidden)), make([]float32, len(dHidden))
	for j, d := range dHidden {
		value, slope := kernel.GeluSlope(e.g[j])
		dg[j], du[j] = d*e.u[j]*slope, d*value
	}
	fromGate, err := e.gate.mulTransposed(dg)
	if err != nil {
		return err
	}
	fromUp, err := e.up.mulTransposed(du)
	if err != nil {
		return err
	}
	base.Add(dh, fromGate)
	base.Add(dh, fromUp)
	return nil
}

func (f *forward) Mixture(op *tape.Mixture) error {
	p := (*pass)(f)
	m, err := p.mixture(op)
	if err != nil {
		return err
	}
	p.make(op.Out)
	return p.each(1, func(t int) error {
		chosen, err := m.choose(p.row(op.X, t))
		if err != nil {
			return err
		}
		for _, k := range chosen {
			e, err := m.expert(k.expert, p.row(op.H, t))
			if err != nil {
				return err
			}
			base.Axpy(k.weight, e.y, p.row(op.Out, t))
		}
		return nil
	})
}

func (b *back) Mixture(op *tape.Mixture) error {
	p := (*pass)(b)
	m, err := p.mixture(op)
	if err != nil {
		return err
	}
	dx, dh := p.delta(op.X), p.delta(op.H)
	d := p.tape.Config.EmbeddingLength
	return p.each(1, func(t int) error {
		row := func(values []float32) []float32 { return values[t*d : (t+1)*d] }
		return m.back(p.row(op.X, t), p.row(op.H, t), row(p.deltas[op.Out]), row(dx), row(dh))
	})
}

// back adds the gradients of one position: of h through the experts, of x
// through their weights.
func (m *mixture) back(x, h, dy, dx, dh []float32) error {
	chosen, err := m.choose(x)
	if err != nil {
		return err
	}
	slopes := make([]float64, len(chosen)) // ∂loss/∂share
	var mean float64
	for i, k := range chosen {
		e, err := m.expert(k.expert, h)
		if err != nil {
			return err
		}
		slopes[i] = float64(base.Dot(dy, e.y)) * float64(m.downScale[k.expert])
		mean += float64(k.share) * slopes[i]
		scaled := slices.Clone(dy)
		base.Scale(scaled, k.weight)
		if err := e.back(scaled, dh); err != nil {
			return err
		}
	}
	dLogits := make([]float32, m.tape.Config.Experts)
	for i, k := range chosen {
		dLogits[k.expert] = float32(float64(k.share) * (slopes[i] - mean))
	}
	return m.routerBack(x, dLogits, dx)
}

func (m *mixture) routerBack(x, dLogits, dx []float32) error {
	router := rowsOf{m.matrix(m.e.Router), 0, m.tape.Config.Experts}
	dRouted, err := router.mulTransposed(dLogits)
	if err != nil {
		return err
	}
	for j := range dRouted {
		dRouted[j] *= m.routerScale[j] / m.tape.Config.EmbedScale()
	}
	rmsNormBack(dx, dRouted, x, nil, m.tape.Config.Eps)
	return nil
}
