package cpu

import (
	"math"

	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
)

func (f *forward) Norm(op *tape.Norm) error {
	p := (*pass)(f)
	out, x := p.make(op.Out), p.values[op.X]
	if op.Weight == nil {
		base.RMSNormPlain(out, x, op.Size, p.tape.Config.Eps)
		return nil
	}
	weight, err := p.vector(op.Weight)
	if err != nil {
		return err
	}
	base.RMSNorm(out, x, weight, p.tape.Config.Eps)
	return nil
}

func (b *back) Norm(op *tape.Norm) error {
	p := (*pass)(b)
	dx := p.delta(op.X)
	if dx == nil {
		return nil
	}
	var weight []float32
	if op.Weight != nil {
		var err error
		if weight, err = p.vector(op.Weight); err != nil {
			return err
		}
	}
	x, dy := p.values[op.X], p.deltas[op.Out]
	groups := len(x) / op.Size
	return p.cores.Each(groups, 1+(1<<14)/op.Size, func(from, to int) error {
		for g := from; g < to; g++ {
			i, j := g*op.Size, (g+1)*op.Size
			rmsNormBack(dx[i:j], dy[i:j], x[i:j], weight, p.tape.Config.Eps)
		}
		return nil
	})
}

// rmsNormBack adds to dx, with r = 1/√(mean(x²) + ε) and g = dy ⊙ w:
// r·g − x·r³·(g·x)/n.
func rmsNormBack(dx, dy, x, weight []float32, eps float32) {
	var squares, along float64
	for i, v := range x {
		squares += float64(v) * float64(v)
		along += float64(weighted(dy, weight, i)) * float64(v)
	}
	n := float64(len(x))
	r := 1 / math.Sqrt(squares/n+float64(eps))
	back := along * r * r * r / n
	for i, v := range x {
		dx[i] += float32(r*float64(weighted(dy, weight, i)) - back*float64(v))
	}
}

func weighted(dy, weight []float32, i int) float32 {
	if weight == nil {
		return dy[i]
	}
	return dy[i] * weight[i]
}
