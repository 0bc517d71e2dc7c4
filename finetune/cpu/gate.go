package cpu

import (
	"math"

	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
)

func (f *ahead) Gate(op *tape.Gate) error {
	p := (*pass)(f)
	p.make(op.Out)
	return p.each(16, func(t int) error {
		gate, out := p.row(op.Gate, t), p.row(op.Out, t)
		copy(out, gate)
		base.GatedGelu(out, p.row(op.Up, t)[op.UpOffset:][:len(out)])
		return nil
	})
}

func (b *back) Gate(op *tape.Gate) error {
	p := (*pass)(b)
	dGate, dUp, dy := p.delta(op.Gate), p.delta(op.Up), p.deltas[op.Out]
	n, upWidth := p.tape.Shape(op.Out).Width, p.tape.Shape(op.Up).Width
	return p.each(16, func(t int) error {
		gate, up := p.row(op.Gate, t), p.row(op.Up, t)[op.UpOffset:]
		for i, g := range gate {
			d := dy[t*n+i]
			value, slope := geluBoth(g)
			if dGate != nil {
				dGate[t*n+i] += d * up[i] * slope
			}
			if dUp != nil {
				dUp[t*upWidth+op.UpOffset+i] += d * value
			}
		}
		return nil
	})
}

// geluBoth is the tanh approximation and its derivative: with u = √(2/π)·(x + 0.044715·x³),
// 0.5·x·(1 + tanh u) and 0.5·(1 + tanh u) + 0.5·x·(1 − tanh² u)·√(2/π)·(1 + 3·0.044715·x²).
func geluBoth(at float32) (value, slope float32) {
	const cubic = 0.044715
	x, k := float64(at), math.Sqrt(2/math.Pi)
	tanh := math.Tanh(k * (x + cubic*x*x*x))
	return float32(0.5 * x * (1 + tanh)), float32(0.5*(1+tanh) + 0.5*x*(1-tanh*tanh)*k*(1+3*cubic*x*x))
}
