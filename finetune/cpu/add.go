package cpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
)

func (f *forward) Add(op *tape.Add) error {
	p := (*pass)(f)
	out := p.make(op.Out)
	copy(out, p.values[op.A])
	base.Add(out, p.values[op.B])
	base.Scale(out, op.Scale)
	return nil
}

func (b *back) Add(op *tape.Add) error {
	p := (*pass)(b)
	for _, v := range op.Inputs() {
		if d := p.delta(v); d != nil {
			base.Axpy(op.Scale, p.deltas[op.Out], d)
		}
	}
	return nil
}
