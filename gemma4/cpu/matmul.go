package cpu

import "gonum.org/v1/gonum/blas/gonum"

// kernels are gonum's float32 vector kernels, in assembly where it has some.
var kernels gonum.Implementation

// dot is Σ aᵢ·bᵢ.
func dot(a, b []float32) float32 { return kernels.Sdot(len(a), a, 1, b, 1) }

// axpy is y = y + alpha·x.
func axpy(alpha float32, x, y []float32) { kernels.Saxpy(len(x), alpha, x, 1, y, 1) }

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
	// rowsPerPass is how many rows of weights are taken over all tokens at a
	// time, so that they stay in the cache.
	rowsPerPass = 16
)

func (m *Model) mul(tokens int, products ...product) error { return m.threads.mul(tokens, products...) }

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
	if grain > rowsPerPass {
		grain -= grain % rowsPerPass
	} else {
		grain = min(rowsPerPass, max(grain, rows/t.n))
	}
	return t.each(rows, grain, func(from, to int) error {
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
}

// multiply computes the outputs from … to of every token.
func (p product) multiply(tokens, from, to int) error {
	step := rowsPerPass
	if p.w.values == nil {
		step = max(1, valuesPerRead/p.w.cols)
	}
	scratch := scratchPool.Get().(*scratch)
	defer scratchPool.Put(scratch)
	for ; from < to; from += step {
		n := min(step, to-from)
		weights, err := p.w.read(scratch, p.first+from, n)
		if err != nil {
			return err
		}
		p.pass(tokens, weights, from, n)
	}
	return nil
}

// pass computes n outputs of every token from the decoded rows of weights.
func (p product) pass(tokens int, weights []float32, from, n int) {
	cols := p.w.cols
	for t := range tokens {
		x, y := p.x[t*cols:(t+1)*cols], p.y[t*p.rows+from:]
		for r := range n {
			y[r] = dot(weights[r*cols:(r+1)*cols], x)
		}
	}
}
