package opstest

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// backShape is a product with all rows of a matrix, and its way back.
type backShape struct {
	quant         quant.Type
	cols, rows    int
	width, tokens int
	paired, add   bool
	ranks         []int // of what LowRank adds to each part of the rows, nil for none
	distinct      int   // rows before they repeat, 0 for as usual
}

func (s backShape) String() string {
	name := fmt.Sprintf("%v_%dx%d_%dof%d_paired=%t_add=%t", s.quant, s.rows, s.cols, s.tokens, s.width, s.paired, s.add)
	if s.ranks != nil {
		name += fmt.Sprintf("_low=%v", s.ranks)
	}
	return name
}

// parts are how many rows each part of the matrix has.
func (s backShape) parts() []int {
	n := max(len(s.ranks), 1)
	if s.paired {
		n = 2
	}
	parts := make([]int, n)
	for i := range parts {
		parts[i] = s.rows / n
	}
	return parts
}

// source says which part row i of the matrix is of, and which row of the part: in a
// paired matrix the rows of gate and up take turns.
func (s backShape) source(i int) (part, row int) {
	n := len(s.parts())
	if s.paired {
		return i % n, i / n
	}
	return i / (s.rows / n), i % (s.rows / n)
}

// activations is the size of the largest buffer of inputs or outputs, in bytes.
func (s backShape) activations() int64 { return 4 * int64(s.width) * int64(max(s.rows, s.cols)) }

func backShapes() []backShape {
	var shapes []backShape
	for _, row := range quantRows {
		n := row.quant.BlockLen()
		shapes = append(shapes,
			backShape{quant: row.quant, cols: 3 * n, rows: 34, width: 21, tokens: 19, add: true},
			backShape{quant: row.quant, cols: (159/n + 1) * n, rows: 5, width: 1, tokens: 1})
		if n == 1 {
			shapes = append(shapes, backShape{quant: row.quant, cols: 33, rows: 7, width: 3, tokens: 2, add: true})
		}
	}
	return append(shapes,
		backShape{quant: quant.Q4_K, cols: 256, rows: 88, width: 70, tokens: 65, paired: true},
		backShape{quant: quant.Q6_K, cols: 256, rows: 70, width: 1, tokens: 1, paired: true},
		backShape{quant: quant.F16, cols: 200, rows: 1060, width: 40, tokens: 33, add: true},
		backShape{quant: quant.Q4_K, cols: 256, rows: 99, width: 21, tokens: 19, ranks: []int{8, 0, 17}},
		backShape{quant: quant.Q6_K, cols: 256, rows: 88, width: 70, tokens: 65, paired: true, ranks: []int{16, 3}},
		backShape{quant: quant.F16, cols: 200, rows: 34, width: 1, tokens: 1, ranks: []int{4}},
		// Large tiles, and such as are split.
		backShape{quant: quant.Q4_K, cols: 256, rows: 3080, width: 133, tokens: 130, paired: true, ranks: []int{8, 20}},
		backShape{quant: quant.F16, cols: 2048, rows: 768, width: 70, tokens: 66, ranks: []int{16, 16}})
}

func linearBackCases(kit *ops.Kit) []Case {
	var cases []Case
	most := kit.Device().Limits().MaxStorageBindingSize
	for _, s := range backShapes() {
		if s.activations() > most { // matrices are split over bindings, activations are not
			continue
		}
		cases = append(cases, Case{Op: "LinearBack", Name: s.String(), Tolerance: 5e-6,
			Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(s.cols))
				defer r.close()
				return linearBackCase(ctx, r, s)
			}})
	}
	return cases
}

// backOf is the shape of a product with all rows of a matrix, or of its way back.
func backOf(w *ops.Matrix, low *ops.LowRank, add bool, width int) shape {
	s := backShape{quant: w.Type, cols: w.Cols, rows: w.Rows, width: width, tokens: tokensOf(width),
		paired: w.Layout == ops.Paired, add: add, distinct: derivedRows}
	if low != nil {
		s.ranks = []int{0}
		if s.paired {
			s.ranks = []int{0, 0}
		}
		for _, p := range low.Parts {
			s.ranks[0] = max(s.ranks[0], p.Rank)
		}
	}
	return s
}

func (s backShape) derived() Case {
	return Case{Op: "LinearBack", Name: "as taken/" + s.String(), Tolerance: 5e-6,
		Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, uint64(s.cols))
			r.distinct = s.distinct
			defer r.close()
			return linearBackCase(ctx, r, s)
		}}
}

func (s backShape) halved() (smaller []shape) {
	if half, ok := halfOf(s.rows, 8, leastRows); ok {
		h := s
		h.rows = half
		smaller = append(smaller, h)
	}
	if half, ok := halfOf(s.width, 1, leastTokens); ok {
		h := s
		h.width, h.tokens = half, tokensOf(half)
		smaller = append(smaller, h)
	}
	return smaller
}

// linearBackCase runs both ways.
func linearBackCase(ctx context.Context, r *rig, s backShape) (float64, error) {
	layout := ops.Stacked
	if s.paired {
		layout = ops.Paired
	}
	var parts []rows
	for _, n := range s.parts() {
		parts = append(parts, r.rows(s.quant, n, s.cols, 0))
	}
	w := r.matrix(ctx, layout, parts...)
	row := func(i int) []float64 {
		part, i := s.source(i)
		p := parts[part]
		i %= len(p.values) / s.cols
		return p.values[i*s.cols : (i+1)*s.cols]
	}
	var op ops.Linear
	low := linearShape{rows: s.parts(), ranks: s.ranks, gated: s.paired, tokens: s.tokens}.lowRank(r, &op)
	x, dy, before := r.normal(s.width*s.cols), r.normal(s.width*s.rows), r.normal(s.width*s.cols)
	y, dx := r.floats(s.width*s.rows), r.upload(before)
	xBuffer, dyBuffer := r.upload(x), r.upload(dy)
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		rec.AllRows(ops.AllRows{W: w, X: ops.All(xBuffer), Out: y, LowRank: op.LowRank})
		rec.LinearBack(ops.LinearBack{W: w, DY: ops.All(dyBuffer), DX: ops.All(dx), Add: s.add})
	})
	var forward []float64
	back := make([]float64, s.tokens*s.cols)
	for t := range s.tokens {
		for i := range s.rows {
			part, at := s.source(i)
			sum := low(t, part*s.parts()[0]+at)
			for c, v := range row(i) {
				sum += v * x[t*s.cols+c]
				back[t*s.cols+c] += v * dy[t*s.rows+i]
			}
			forward = append(forward, sum)
		}
	}
	got := joined(r.read(y, s.tokens*s.rows), r.read(dx, len(back)))
	return r.compare(got, joined(forward, plus(s.add, before, back)))
}

// pairShape is the products of a low-rank pair for tokens of a width.
type pairShape struct{ in, out, rank, width, tokens int }

var pairShapes = []pairShape{{5, 3, 1, 2, 1}, {70, 33, 4, 37, 35}, {520, 40, 16, 64, 64}, {40, 600, 48, 9, 9}}

func denseCases(*ops.Kit) []Case {
	var cases []Case
	for _, s := range pairShapes {
		cases = append(cases, Case{Op: "Dense",
			Name: fmt.Sprintf("%dto%d_rank%d_%dof%d", s.in, s.out, s.rank, s.tokens, s.width), Tolerance: 2e-6,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(s.in))
				defer r.close()
				return denseCase(r, s)
			}})
	}
	return cases
}

// denseCase computes u = A·x, y += s·B·u and all that they hand back: with
// du = s·Bᵀ·dy, dA += du·xᵀ, dB += s·dy·uᵀ and dx += Aᵀ·du.
func denseCase(r *rig, s pairShape) (float64, error) {
	const scale = 0.5
	x, a, b := r.normal(s.width*s.in), r.normal(s.rank*s.in), r.normal(s.out*s.rank)
	y, dy, dx := r.normal(s.width*s.out), r.normal(s.width*s.out), r.normal(s.width*s.in)
	da, db := r.normal(len(a)), r.normal(len(b))
	buffers := map[string]*wgslkit.Buffer{
		"x": r.upload(x), "a": r.upload(a), "b": r.upload(b), "y": r.upload(y), "dy": r.upload(dy), "dx": r.upload(dx),
		"da": r.upload(da), "db": r.upload(db), "u": r.floats(s.width * s.rank), "du": r.floats(s.width * s.rank),
	}
	of := func(name string, columns int) ops.Lattice { return ops.Rows(buffers[name], columns) }
	turned := func(name string, columns int) ops.Lattice {
		return ops.Lattice{Bind: buffers[name].All(), Row: 1, Column: columns}
	}
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		rec.Dense(ops.Dense{A: of("x", s.in), B: turned("a", s.in), Out: of("u", s.rank), N: s.rank, K: s.in})
		rec.Dense(ops.Dense{A: of("u", s.rank), B: turned("b", s.rank), Out: of("y", s.out), N: s.out, K: s.rank,
			Scale: scale, Add: true})
		rec.Dense(ops.Dense{A: of("dy", s.out), B: of("b", s.rank), Out: of("du", s.rank), N: s.rank, K: s.out,
			Scale: scale})
		rec.Dense(ops.Dense{A: turned("du", s.rank), B: of("x", s.in), Out: of("da", s.in), M: s.rank, N: s.in,
			Add: true})
		rec.Dense(ops.Dense{A: turned("dy", s.out), B: of("u", s.rank), Out: of("db", s.rank), M: s.out, N: s.rank,
			Scale: scale, Add: true})
		rec.Dense(ops.Dense{A: of("du", s.rank), B: of("a", s.in), Out: of("dx", s.in), N: s.in, K: s.rank, Add: true})
	})
	for t := range s.tokens {
		u, du := make([]float64, s.rank), make([]float64, s.rank)
		for k := range s.rank {
			for i := range s.in {
				u[k] += a[k*s.in+i] * x[t*s.in+i]
			}
			for o := range s.out {
				du[k] += scale * b[o*s.rank+k] * dy[t*s.out+o]
				db[o*s.rank+k] += scale * dy[t*s.out+o] * u[k]
				y[t*s.out+o] += scale * b[o*s.rank+k] * u[k]
			}
			for i := range s.in {
				da[k*s.in+i] += du[k] * x[t*s.in+i]
				dx[t*s.in+i] += du[k] * a[k*s.in+i]
			}
		}
	}
	got := joined(r.read(buffers["y"], s.tokens*s.out), r.read(buffers["da"], len(da)), r.read(buffers["db"], len(db)),
		r.read(buffers["dx"], s.tokens*s.in))
	return r.compare(got, joined(y[:s.tokens*s.out], da, db, dx[:s.tokens*s.in]))
}
