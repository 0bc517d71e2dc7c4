package cpu

import (
	"math"
	"testing"

	"github.com/gemwire/gemwire/multimodal/arch"
)

// chunkedAttention computes one head as the model's release does: in chunks of
// 12 queries, each over its chunk and the 12 positions before it, with the scores
// of distances 12 … 0 shifted into place as in Transformer-XL.
//
// q is scaled, k and P are not; q, k, v are [positions, D], distances [13, D] with
// the largest distance first.
func chunkedAttention(q, k, v, distances [][]float64) [][]float64 {
	const chunk, past = 12, 12
	const context = chunk + past
	n, dim := len(q), len(q[0])
	out := make([][]float64, n)
	for start := 0; start < n; start += chunk {
		// by distance: [chunk, 13], padded to rows of context + 1, read again in
		// rows of context
		flat := make([]float64, chunk*(context+1))
		for i := range chunk {
			for r := range distances {
				if start+i < n {
					flat[i*(context+1)+r] = dot64(q[start+i], distances[r])
				}
			}
		}
		for i := range min(chunk, n-start) {
			var scores [context]float64
			var sum float64
			for c := range scores {
				key := start - past + c
				scores[c] = math.Inf(-1)
				if key < 0 || key >= n || key > start+i || start+i-key >= past {
					continue
				}
				scores[c] = 50 * math.Tanh((keyFactor*dot64(q[start+i], k[key])+flat[i*context+c])/50)
				sum += math.Exp(scores[c])
			}
			out[start+i] = make([]float64, dim)
			for c, s := range scores {
				for d := 0; !math.IsInf(s, -1) && d < dim; d++ {
					out[start+i][d] += math.Exp(s) / sum * v[start-past+c][d]
				}
			}
		}
	}
	return out
}

const keyFactor = 1.9 // any will do, where keys are given with it

func dot64(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestRelativeAttention(t *testing.T) {
	for _, positions := range []int{1, 5, 12, 13, 24, 40} {
		const heads, dim = 2, 6
		const width = heads * dim
		a := &Audio{config: &arch.Audio{Width: width, Heads: heads}}
		q, k, v := normal(positions*width, 1), normal(positions*width, 2), normal(positions*width, 3)
		distances := normal(arch.AudioWindow*width, 4)
		got := make([]float32, len(q))
		for i := range positions {
			for h := range heads {
				a.attend(got, q, scaled(k, keyFactor), v, distances, i, h*dim)
			}
		}
		want := make([]float64, len(q))
		for h := range heads {
			p := make([][]float64, arch.AudioWindow+1)
			p[0] = make([]float64, dim) // distance 12, which nothing may use
			for d, row := range rowsOf(distances, width, h, dim) {
				p[arch.AudioWindow-d] = row
			}
			for i, row := range chunkedAttention(rowsOf(q, width, h, dim), rowsOf(k, width, h, dim),
				rowsOf(v, width, h, dim), p) {
				copy(want[i*width+h*dim:], row)
			}
		}
		closeTo(t, got, want, 1e-5)
	}
}

func scaled(x []float32, factor float32) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = v * factor
	}
	return y
}

// rowsOf takes one head out of [positions, width].
func rowsOf(x []float32, width, head, dim int) [][]float64 {
	var rows [][]float64
	for at := head * dim; at < len(x); at += width {
		row := make([]float64, dim)
		for d := range row {
			row[d] = float64(x[at+d])
		}
		rows = append(rows, row)
	}
	return rows
}

func TestScalesOfQueries(t *testing.T) {
	a := &Audio{config: &arch.Audio{Width: 12, Heads: 3}}
	q, perDim := normal(2*3*4, 1), normal(4, 2)
	want := make([]float64, len(q))
	for i, v := range q {
		want[i] = float64(v) * float64(perDim[i%4]) / 2 / math.Log(2)
	}
	a.scaleQueries(q, perDim)
	closeTo(t, q, want, 1e-6)
}
