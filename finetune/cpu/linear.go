package cpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	base "github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gguf"
)

func (f *forward) Linear(op *tape.Linear) error {
	p := (*pass)(f)
	out := p.make(op.Out)
	if err := p.cores.Mul(p.n, p.matrix(op.W), p.values[op.X], out); err != nil {
		return err
	}
	if op.Slot == nil {
		return nil
	}
	pair := p.pairs[op.Slot.Index]
	return p.cores.Each(p.n, rowGrain(pair), func(from, to int) error {
		more := make([]float32, (to-from)*pair.Out)
		base.Product(more, pair.Out, pair.B, p.down(op, pair, from, to), pair.Rank)
		base.Axpy(pair.Scale, more, p.values[op.Out][from*pair.Out:to*pair.Out])
		return nil
	})
}

// down is A·x of the positions from … to, [positions, rank].
func (p *pass) down(op *tape.Linear, pair *adapter.Pair, from, to int) []float32 {
	u := make([]float32, (to-from)*pair.Rank)
	base.Product(u, pair.Rank, pair.A, p.values[op.X][from*pair.In:to*pair.In], pair.In)
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
	if op.Slot == nil {
		return nil
	}
	return p.pairBack(op, p.pairs[op.Slot.Index], p.grads[op.Slot.Index], dx)
}

// pairBack computes du = scale·Bᵀ·dy by position, with what it adds to dx, then the
// gradients by row: each is a sum over all positions.
func (p *pass) pairBack(op *tape.Linear, pair, grad *adapter.Pair, dx []float32) error {
	x, dy, rank := p.values[op.X], p.deltas[op.Out], pair.Rank
	u, du := make([]float32, p.n*rank), make([]float32, p.n*rank)
	err := p.cores.Each(p.n, rowGrain(pair), func(from, to int) error {
		copy(u[from*rank:], p.down(op, pair, from, to))
		for t := from; t < to; t++ {
			row := du[t*rank : (t+1)*rank]
			base.WeightedSum(row, dy[t*pair.Out:(t+1)*pair.Out], pair.B, rank)
			base.Scale(row, pair.Scale)
			if dx != nil {
				base.WeightedSum(dx[t*pair.In:(t+1)*pair.In], row, pair.A, pair.In)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	base.Scale(u, pair.Scale)
	if err := p.addOuter(grad.B, transposed(dy, p.n), u, rank); err != nil {
		return err
	}
	return p.addOuter(grad.A, transposed(du, p.n), x, pair.In)
}

// addOuter adds to each row i of y, [rows, width], the sum over all positions of
// w[i, t]·v[t], with v [n, width].
func (p *pass) addOuter(y, w, v []float32, width int) error {
	return p.cores.Each(len(y)/width, 1+(1<<16)/(p.n*width), func(from, to int) error {
		for i := from; i < to; i++ {
			base.WeightedSum(y[i*width:(i+1)*width], w[i*p.n:(i+1)*p.n], v, width)
		}
		return nil
	})
}

// transposed is x, of so many rows, by column.
func transposed(x []float32, rows int) []float32 {
	y, cols := make([]float32, len(x)), len(x)/rows
	for r := range rows {
		for c, v := range x[r*cols : (r+1)*cols] {
			y[c*rows+r] = v
		}
	}
	return y
}

// rowsAtATime is how many rows of a matrix are decoded before they are used for
// all positions.
const rowsAtATime = 64

// mulTransposed adds Wᵀ·dy to dx, for n vectors: dy is [n, rows], dx [n, cols].
func (m *Machine) mulTransposed(tensor *gguf.Tensor, dy []float32, n int, dx []float32) error {
	w := m.matrix(tensor)
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
				base.WeightedSum(dx[t*cols:(t+1)*cols], dy[t*rows+first:t*rows+first+count], decoded, cols)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
