package cpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
)

func (f *forward) Copy(op *tape.Copy) error {
	p := (*pass)(f)
	copy(p.make(op.Out), p.values[op.X])
	return nil
}

func (b *back) Copy(op *tape.Copy) error {
	p := (*pass)(b)
	if dx := p.delta(op.X); dx != nil {
		base.Add(dx, p.deltas[op.Out])
	}
	return nil
}

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
