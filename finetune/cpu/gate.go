package cpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

func (f *forward) Gate(op *tape.Gate) error {
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
			value, slope := kernel.GeluSlope(g)
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
