package cpu

import "github.com/gemwire/gemwire/gemma4/cpu/kernel"

// dot is Σ aᵢ·bᵢ.
func dot(a, b []float32) float32 { return kernel.Best.Dot(a, b) }

// axpy is y = y + alpha·x.
func axpy(alpha float32, x, y []float32) { kernel.Best.Axpy(alpha, x, y) }

// product is one of the matrix products y = x·Wᵀ that mul computes together:
// x is [tokens, cols], y [tokens, rows].
type product struct {
	w     *matrix
	first int // of w's rows, the first one
	rows  int // and how many
	x, y  []float32
}

func whole(w *matrix, x, y []float32) product { return product{w: w, rows: w.rows, x: x, y: y} }

func (e expertRows) of(expert int, x, y []float32) product {
	return product{w: e.matrix, first: e.stride*expert + e.offset, rows: e.n, x: x, y: y}
}

const (
	// mulsPerPart is how many multiplications are worth handing to another core.
	mulsPerPart = 1 << 16
	// valuesPerRead is how many weights are decoded at a time.
	valuesPerRead = 1 << 16
	// rowsPerPart is what parts of a loop are a multiple of: as many rows as
	// kernels like to take together.
	rowsPerPart = 16
)

func (m *Model) mul(tokens int, products ...product) error {
	if m.observer != nil {
		m.observe(tokens, products)
	}
	return m.threads.mul(tokens, products...)
}

// mul computes products that do not depend on each other, for the same number of
// tokens. Each row of weights is decoded once for all of them.
func (t *threads) mul(tokens int, products ...product) error {
	if tokens == 0 {
		return nil
	}
	rows, muls := 0, 0
	for _, p := range products {
		rows += p.rows
		muls += p.rows * p.w.cols * tokens
	}
	grain := rows * mulsPerPart / muls
	if grain > rowsPerPart {
		grain -= grain % rowsPerPart
	} else {
		grain = min(rowsPerPart, max(grain, rows/t.n))
	}
	err := t.each(rows, grain, func(from, to int) error {
		for _, p := range products {
			if from < p.rows && to > 0 {
				if err := p.multiply(tokens, max(from, 0), min(to, p.rows)); err != nil {
					return err
				}
			}
			from, to = from-p.rows, to-p.rows
		}
		return nil
	})
	for _, p := range products {
		if err == nil && p.w.adapters != nil {
			err = p.adapt(t, tokens)
		}
	}
	return err
}

// multiply computes the outputs from … to of every token.
func (p product) multiply(tokens, from, to int) error {
	t, x := p.w.tensor, p.x[:tokens*p.w.cols]
	if p.w.values != nil {
		kernel.Best.Mul(p.y[from:], p.rows, p.w.values[(p.first+from)*p.w.cols:(p.first+to)*p.w.cols], x, p.w.cols)
		return nil
	}
	fused := tokens == 1 && kernel.Best.Fused(t.Type)
	scratch := scratchPool.Get().(*scratch)
	defer scratchPool.Put(scratch)
	step := max(1, valuesPerRead/p.w.cols)
	for ; from < to; from += step {
		n := min(step, to-from)
		if fused {
			stored, err := p.w.readStored(scratch, p.first+from, n)
			if err != nil {
				return err
			}
			kernel.Best.MulRows(p.y[from:from+n], t.Type, stored, x)
			continue
		}
		weights, err := p.w.read(scratch, p.first+from, n)
		if err != nil {
			return err
		}
		kernel.Best.Mul(p.y[from:], p.rows, weights, x, p.w.cols)
	}
	return nil
}
