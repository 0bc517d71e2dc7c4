package cpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	base "github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gguf"
)

func (f *ahead) Linear(op *tape.Linear) error {
	p := (*pass)(f)
	out := p.make(op.Out)
	if err := p.cores.Mul(p.n, base.NewMatrix(op.W, 0), p.values[op.X], out); err != nil {
		return err
	}
	if op.Slot == nil {
		return nil
	}
	pair := p.pairs[op.Slot.Index]
	return p.each(rowGrain(pair), func(t int) error {
		u := down(pair, p.row(op.X, t))
		y := p.row(op.Out, t)
		for o := range y {
			y[o] += pair.Scale * base.Dot(pair.B[o*pair.Rank:(o+1)*pair.Rank], u)
		}
		return nil
	})
}

// down is A·x.
func down(pair *adapter.Pair, x []float32) []float32 {
	u := make([]float32, pair.Rank)
	for r := range u {
		u[r] = base.Dot(pair.A[r*pair.In:(r+1)*pair.In], x)
	}
	return u
}

func rowGrain(pair *adapter.Pair) int { return 1 + (1<<16)/(pair.Rank*(pair.In+pair.Out)) }

// Linear adds dx = Wᵀ·dy + scale·Aᵀ·(Bᵀ·dy), and to the pair's gradients
// dA = scale·(Bᵀ·dy)·xᵀ and dB = scale·dy·(A·x)ᵀ.
func (b *back) Linear(op *tape.Linear) error {
	p := (*pass)(b)
	dx, dy := p.delta(op.X), p.deltas[op.Out]
	if dx != nil {
		if err := p.mulTransposed(op.W, dy, p.n, dx); err != nil {
			return err
		}
	}
	if op.Slot != nil {
		p.pairBack(op, p.pairs[op.Slot.Index], p.grads[op.Slot.Index], dx)
	}
	return nil
}

func (p *pass) pairBack(op *tape.Linear, pair, grad *adapter.Pair, dx []float32) {
	dy := p.deltas[op.Out]
	for t := range p.n {
		x, dyt := p.row(op.X, t), dy[t*pair.Out:(t+1)*pair.Out]
		u, du := down(pair, x), make([]float32, pair.Rank)
		for o, g := range dyt {
			base.Axpy(pair.Scale*g, pair.B[o*pair.Rank:(o+1)*pair.Rank], du)
			base.Axpy(pair.Scale*g, u, grad.B[o*pair.Rank:(o+1)*pair.Rank])
		}
		for r, g := range du {
			base.Axpy(g, x, grad.A[r*pair.In:(r+1)*pair.In])
			if dx != nil {
				base.Axpy(g, pair.A[r*pair.In:(r+1)*pair.In], dx[t*pair.In:(t+1)*pair.In])
			}
		}
	}
}

// rowsAtATime is how many rows of a matrix are decoded before they are used for
// all positions.
const rowsAtATime = 64

// mulTransposed adds Wᵀ·dy to dx, for n vectors: dy is [n, rows], dx [n, cols].
func (m *Machine) mulTransposed(tensor *gguf.Tensor, dy []float32, n int, dx []float32) error {
	w := base.NewMatrix(tensor, 0)
	rows, cols := w.Rows(), w.Cols()
	decoded := make([]float32, rowsAtATime*cols)
	for first := 0; first < rows; first += rowsAtATime {
		count := min(rowsAtATime, rows-first)
		err := m.cores.Each(count, 8, func(from, to int) error {
			for r := from; r < to; r++ {
				if err := w.Read(decoded[r*cols:(r+1)*cols], first+r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = m.cores.Each(n, 1+(1<<16)/(count*cols), func(from, to int) error {
			for t := from; t < to; t++ {
				for r := range count {
					base.Axpy(dy[t*rows+first+r], decoded[r*cols:(r+1)*cols], dx[t*cols:(t+1)*cols])
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
