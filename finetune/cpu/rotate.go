package cpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
)

// rotation is the turn of each position of an example, and the way back.
type rotation struct{ forward, inverse base.Rotation }

// rotation is that of the layers of layer i's kind.
func (p *pass) rotation(i int) (*rotation, error) {
	c := p.tape.Config
	kind := 0
	if c.IsSliding(i) {
		kind = 1
	}
	if r := p.rotations[kind]; r != nil {
		return r, nil
	}
	var freqs []float32
	if t := p.tape.Model.RopeFreqs; t != nil && !c.IsSliding(i) {
		var err error
		if freqs, err = p.vector(t); err != nil {
			return nil, err
		}
	}
	positions := 0
	for t := range p.n {
		positions = max(positions, p.batch.Position(t)+1)
	}
	turn := base.NewRotation(c.HeadDim(i), c.RopeTheta(i), c.RopeFactors(i, freqs), positions)
	p.rotations[kind] = &rotation{forward: turn, inverse: turn.Inverse()}
	return p.rotations[kind], nil
}

func (f *forward) Rotate(op *tape.Rotate) error {
	p := (*pass)(f)
	r, err := p.rotation(op.Layer)
	if err != nil {
		return err
	}
	copy(p.make(op.Out), p.values[op.X])
	for t := range p.n {
		r.forward.Turn(p.row(op.Out, t), op.Heads, p.batch.Position(t))
	}
	return nil
}

func (b *back) Rotate(op *tape.Rotate) error {
	p := (*pass)(b)
	r, err := p.rotation(op.Layer)
	if err != nil {
		return err
	}
	dx, width := p.delta(op.X), p.tape.Shape(op.X).Width
	dy := make([]float32, width)
	for t := range p.n {
		copy(dy, p.deltas[op.Out][t*width:(t+1)*width])
		r.inverse.Turn(dy, op.Heads, p.batch.Position(t))
		base.Add(dx[t*width:(t+1)*width], dy)
	}
	return nil
}
