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
		gate, up := p.row(op.Gate, t), p.row(op.Up, t)[op.UpOffset:]
		for i, g := range gate {
			p.row(op.Out, t)[i] = base.Gelu(g) * up[i]
		}
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
			if dGate != nil {
				dGate[t*n+i] += d * up[i] * geluSlope(g)
			}
			if dUp != nil {
				dUp[t*upWidth+op.UpOffset+i] += d * base.Gelu(g)
			}
		}
		return nil
	})
}

// geluSlope is the derivative of the tanh approximation: with u = √(2/π)·(x + 0.044715·x³),
// 0.5·(1 + tanh u) + 0.5·x·(1 − tanh² u)·√(2/π)·(1 + 3·0.044715·x²).
func geluSlope(value float32) float32 {
	const cubic = 0.044715
	x, k := float64(value), math.Sqrt(2/math.Pi)
	tanh := math.Tanh(k * (x + cubic*x*x*x))
	return float32(0.5*(1+tanh) + 0.5*x*(1-tanh*tanh)*k*(1+3*cubic*x*x))
}
