package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// expertBackShape is the way back of a product with chosen experts.
type expertBackShape struct {
	quant           quant.Type
	experts, chosen int
	rows, cols      int // of one expert
	width, tokens   int
	sum, add        bool
	paired          bool
	grouped         bool // by expert, where the kit does so
	distinct        int  // rows before they repeat, 0 for as usual
}

func expertBackOf(o ops.ExpertBack, width int) expertBackShape {
	return expertBackShape{quant: o.W.Type, experts: o.W.Experts, chosen: o.K, rows: o.W.Rows / o.W.Experts,
		cols: o.W.Cols, width: width, tokens: tokensOf(width), sum: o.Sum, add: o.Add, paired: o.W.Layout == ops.Paired,
		grouped: o.Groups != nil, distinct: derivedRows}
}

func (s expertBackShape) derived() Case {
	c := s.toCase()
	c.Name = "as taken/" + c.Name
	return c
}

func (s expertBackShape) halved() (smaller []shape) {
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

func (s expertBackShape) toCase() Case {
	name := fmt.Sprintf("%v_%dof%d_%dx%d_sum=%t_add=%t", s.quant, s.chosen, s.experts, s.rows, s.cols, s.sum, s.add)
	if s.grouped {
		name += "_grouped"
	}
	return Case{Op: "ExpertBack", Name: name, Tolerance: 5e-6,
		Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, uint64(s.rows))
			r.distinct = s.distinct
			defer r.close()
			return s.run(ctx, r)
		}}
}

func expertBackCases(*ops.Kit) []Case {
	var cases []Case
	for _, s := range []expertBackShape{
		{quant: quant.Q4_K, experts: 8, chosen: 3, rows: 44, cols: 512, width: 6, tokens: 5, sum: true, paired: true},
		{quant: quant.Q6_K, experts: 7, chosen: 2, rows: 129, cols: 256, width: 9, tokens: 9},
		{quant: quant.Q8_0, experts: 5, chosen: 5, rows: 33, cols: 96, width: 2, tokens: 1, sum: true, add: true},
		{quant: quant.Q3_K, experts: 4, chosen: 1, rows: 6, cols: 256, width: 3, tokens: 3, add: true},
		{quant: quant.F16, experts: 4, chosen: 2, rows: 3, cols: 33, width: 2, tokens: 2},
		{quant: quant.F32, experts: 4, chosen: 2, rows: 300, cols: 1203, width: 2, tokens: 2, sum: true},
		{quant: quant.Q4_K, experts: 8, chosen: 3, rows: 44, cols: 512, width: 30, tokens: 27, sum: true, paired: true,
			grouped: true},
		{quant: quant.Q6_K, experts: 3, chosen: 2, rows: 129, cols: 256, width: 120, tokens: 105, grouped: true},
		{quant: quant.Q8_0, experts: 5, chosen: 5, rows: 33, cols: 96, width: 9, tokens: 8, sum: true, add: true,
			grouped: true},
		{quant: quant.Q3_K, experts: 4, chosen: 1, rows: 6, cols: 256, width: 70, tokens: 68, add: true, grouped: true},
		{quant: quant.F32, experts: 4, chosen: 3, rows: 130, cols: 203, width: 40, tokens: 39, add: true,
			grouped: true},
		{quant: quant.F16, experts: 4, chosen: 2, rows: 372, cols: 204, width: 40, tokens: 39, grouped: true},
	} {
		cases = append(cases, s.toCase())
	}
	for _, shape := range [][3]int{{8, 3, 37}, {128, 8, 300}, {2, 2, 1}} {
		cases = append(cases, Case{Op: "RouterBack", Name: fmt.Sprint(shape), Tolerance: 2e-5,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(shape[0]))
				defer r.close()
				return routerBackCase(r, shape[0], shape[1], shape[2])
			}})
	}
	return cases
}

// chosen are experts for each token.
func (r *rig) chosen(tokens, experts, k int) []uint32 {
	var ids []uint32
	for range tokens {
		for _, e := range r.random.Perm(experts)[:k] {
			ids = append(ids, uint32(e))
		}
	}
	return ids
}

func (s expertBackShape) run(ctx context.Context, r *rig) (float64, error) {
	layout, parts := ops.Stacked, []rows{r.rows(s.quant, s.experts*s.rows, s.cols, s.experts)}
	row := func(i int) []float64 { return parts[0].row(i) }
	if s.paired { // rows of gate and up take turns
		layout, parts = ops.Paired, []rows{r.rows(s.quant, s.experts*s.rows/2, s.cols, s.experts),
			r.rows(s.quant, s.experts*s.rows/2, s.cols, s.experts)}
		row = func(i int) []float64 { return parts[i%2].row(i / 2) }
	}
	ids := r.chosen(s.tokens, s.experts, s.chosen)
	outs, grads := s.tokens*s.chosen, s.tokens
	if s.sum {
		outs, grads = grads, outs
	}
	dy, want := r.normal(grads*s.rows), r.normal(outs*s.cols)
	dx := r.upload(want)
	for i := range want {
		if !s.add {
			want[i] = 0
		}
	}
	for pair, e := range ids {
		out, from := pair, pair/s.chosen
		if s.sum {
			out, from = from, out
		}
		for i := range s.rows {
			for c, v := range row(int(e)*s.rows + i) {
				want[out*s.cols+c] += v * dy[from*s.rows+i]
			}
		}
	}
	op := ops.ExpertBack{W: r.matrix(ctx, layout, parts...), K: s.chosen, IDs: r.words(ids...), DY: r.upload(dy),
		DX: dx, Sum: s.sum, Add: s.add}
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		if s.grouped {
			op.Groups = rec.GroupExperts(ops.GroupExperts{Label: "groups", IDs: op.IDs, Experts: s.experts,
				K: s.chosen})
		}
		rec.ExpertBack(op)
	})
	return r.compare(r.read(dx, len(want)), want)
}

// routerBackCase compares with the slopes of Σ weight·(grads·hidden), the weights being
// multiples of the softmax over the chosen logits.
func routerBackCase(r *rig, experts, k, size int) (float64, error) {
	const tokens = 2
	logits, hidden, grads := r.normal(tokens*experts), r.normal(tokens*k*size), r.normal(tokens*k*size)
	scale, ids := r.normal(experts), r.chosen(tokens, experts, k)
	weightsOf := func(row []float64, ids []uint32) []float64 {
		var sum float64
		for _, e := range ids {
			sum += math.Exp(row[e])
		}
		weights := make([]float64, k)
		for i, e := range ids {
			weights[i] = math.Exp(row[e]) / sum * scale[e]
		}
		return weights
	}
	var weights, want, scaled []float64
	for t := range tokens {
		own := ids[t*k : (t+1)*k]
		row := logits[t*experts : (t+1)*experts]
		weights = append(weights, weightsOf(row, own)...)
		loss := func(row []float64) []float64 {
			var sum float64
			for i, w := range weightsOf(row, own) {
				for j := range size {
					at := (t*k+i)*size + j
					sum += w * grads[at] * hidden[at]
				}
			}
			return []float64{sum}
		}
		want = append(want, slopes(loss, row, []float64{1})...)
	}
	for i, g := range grads {
		scaled = append(scaled, g*weights[i/size])
	}
	g, d := r.upload(grads), r.floats(tokens*experts)
	op := ops.RouterBack{
		Logits: r.upload(logits), IDs: r.words(ids...), Weights: r.upload(weights), Hidden: r.upload(hidden), Grads: g,
		DLogits: d,
		Experts: experts, K: k, Size: size,
	}
	r.run(tokens, 0, tokens, func(rec *ops.Recorder) { rec.RouterBack(op) })
	return r.compare(joined(r.read(d, len(want)), r.read(g, len(grads))), joined(want, scaled))
}
