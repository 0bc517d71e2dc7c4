package opstest

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// expertShape is a product with chosen experts.
type expertShape struct {
	quant              quant.Type
	experts, chosen    int
	rows, cols         int // of one expert; rows of gate and of up where gated
	width, tokens      int
	gated, fused       bool // fused: gate and up come as one source
	add, norm, perSlot bool
	weighted           bool
	act                ops.Activation

	grouped bool // by expert, where the kit does so
	allRows bool // gate and up as they lie
	popular int  // tokens choose among the first so many experts, 0 for all
	// distinct is rows before they repeat, 0 for as usual
	distinct int
	apart    bool // rows of x begin at an offset and are further apart than they are long
}

func (s expertShape) String() string {
	name := fmt.Sprintf("%v_%dof%d_%dx%d_%dof%d_gated=%t_fused=%t_add=%t_norm=%t_perSlot=%t_weighted=%t",
		s.quant, s.chosen, s.experts, s.rows, s.cols, s.tokens, s.width, s.gated, s.fused, s.add, s.norm, s.perSlot,
		s.weighted)
	if s.grouped {
		name += fmt.Sprintf("_grouped_allRows=%t_popular=%d", s.allRows, s.popular)
	}
	return name
}

// groupedShapes are products whose pairs are grouped by expert: experts that no token
// chose, one that all did, tiles that are full, half full and nearly empty, replays
// narrower than the program.
func groupedShapes() []expertShape {
	shapes := []expertShape{
		{quant: quant.Q4_K, experts: 8, chosen: 3, rows: 88, cols: 512, width: 40, tokens: 37, gated: true, norm: true,
			act: ops.GELU},
		{quant: quant.Q4_K, experts: 11, chosen: 8, rows: 36, cols: 256, width: 33, tokens: 33, gated: true,
			fused: true, add: true, norm: true, act: ops.GELU},
		{quant: quant.Q4_K, experts: 8, chosen: 1, rows: 65, cols: 256, width: 150, tokens: 130, popular: 1},
		{quant: quant.Q6_K, experts: 7, chosen: 2, rows: 129, cols: 256, width: 90, tokens: 90, perSlot: true,
			weighted: true, popular: 3},
		{quant: quant.Q8_0, experts: 5, chosen: 5, rows: 257, cols: 96, width: 70, tokens: 65, perSlot: true,
			weighted: true},
		{quant: quant.Q4_K, experts: 6, chosen: 4, rows: 20, cols: 256, width: 12, tokens: 1, gated: true,
			allRows: true, apart: true},
		{quant: quant.F16, experts: 4, chosen: 2, rows: 3, cols: 33, width: 9, tokens: 7, weighted: true},
		{quant: quant.F32, experts: 128, chosen: 6, rows: 5, cols: 52, width: 50, tokens: 49, weighted: true,
			popular: 90},
	}
	for _, t := range []quant.Type{quant.F32, quant.BF16, quant.Q5_0, quant.Q3_K, quant.Q5_K, quant.Q6_K,
		quant.IQ4_NL, quant.IQ2_XXS, quant.IQ1_S, quant.MXFP4} {
		shapes = append(shapes, expertShape{quant: t, experts: 3, chosen: 2, rows: 66, cols: 512, width: 40, tokens: 39,
			popular: 2})
	}
	for i := range shapes {
		shapes[i].grouped = true
	}
	return shapes
}

func expertCases(*ops.Kit) []Case {
	var cases []Case
	for _, s := range append([]expertShape{
		{quant: quant.Q4_K, experts: 8, chosen: 3, rows: 88, cols: 512, width: 1, tokens: 1, gated: true, norm: true,
			act: ops.GELU},
		{quant: quant.Q4_K, experts: 8, chosen: 3, rows: 37, cols: 256, width: 6, tokens: 5, gated: true, fused: true,
			norm: true, act: ops.GELU},
		{quant: quant.Q4_K, experts: 8, chosen: 3, rows: 37, cols: 256, width: 6, tokens: 5, gated: true, fused: true,
			add: true, norm: true, act: ops.GELU},
		{quant: quant.Q8_0, experts: 5, chosen: 2, rows: 33, cols: 96, width: 1, tokens: 1},
		{quant: quant.Q8_0, experts: 5, chosen: 5, rows: 257, cols: 704, width: 1, tokens: 1, perSlot: true,
			weighted: true},
		{quant: quant.Q6_K, experts: 7, chosen: 2, rows: 129, cols: 256, width: 9, tokens: 9, perSlot: true,
			weighted: true},
		{quant: quant.IQ4_NL, experts: 5, chosen: 2, rows: 33, cols: 704, width: 1, tokens: 1, gated: true},
		{quant: quant.IQ2_S, experts: 5, chosen: 3, rows: 37, cols: 512, width: 3, tokens: 3, perSlot: true,
			weighted: true},
		{quant: quant.F16, experts: 4, chosen: 1, rows: 1, cols: 33, width: 2, tokens: 2, weighted: true},
		{quant: quant.F32, experts: 4, chosen: 2, rows: 300, cols: 5000, width: 2, tokens: 1, weighted: true},
	}, groupedShapes()...) {
		cases = append(cases, s.toCase())
	}
	return cases
}

func (s expertShape) toCase() Case {
	return Case{Op: "ExpertLinear", Name: s.String(), Tolerance: 5e-6,
		Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, uint64(s.rows))
			r.distinct = s.distinct
			defer r.close()
			return s.run(ctx, r)
		}}
}

// parts are the sources, and gate and up (or the one matrix) of all experts.
func (s expertShape) parts(r *rig) (parts []rows, gate, up rows) {
	gate = r.rows(s.quant, s.experts*s.rows, s.cols, s.experts)
	if !s.gated {
		return []rows{gate}, gate, rows{}
	}
	if !s.fused {
		up = r.rows(s.quant, s.experts*s.rows, s.cols, s.experts)
		return []rows{gate, up}, gate, up
	}
	both := r.rows(s.quant, s.experts*2*s.rows, s.cols, s.experts)
	gate, up = both, both
	gate.values, up.values = nil, nil
	for e := range s.experts {
		n := s.rows * s.cols
		gate.values = append(gate.values, both.values[2*e*n:(2*e+1)*n]...)
		up.values = append(up.values, both.values[(2*e+1)*n:(2*e+2)*n]...)
	}
	return []rows{both}, gate, up
}

func (s expertShape) run(ctx context.Context, r *rig) (float64, error) {
	parts, gate, up := s.parts(r)
	layout := ops.Stacked
	if s.gated {
		layout = ops.Paired
	}
	inputs := linearShape{cols: s.cols, tokens: s.tokens, add: s.add, norm: s.norm, weighted: true, apart: s.apart}
	if s.perSlot {
		inputs.tokens *= s.chosen
	}
	ids := r.chosen(s.tokens, s.experts, s.chosen)
	if s.popular > 0 {
		ids = r.chosen(s.tokens, s.popular, s.chosen)
	}
	shares := r.normal(len(ids))
	op := ops.ExpertLinear{
		Label: "case", W: r.matrix(ctx, layout, parts...), K: s.chosen, IDs: r.words(ids...),
		PerSlotInput: s.perSlot, Act: s.act, Gated: s.gated && !s.allRows, AllRows: s.allRows,
	}
	if s.apart {
		op.In.Offset, op.In.Stride = 1, s.cols+3
	}
	h, _ := inputs.input(r, &op.In)
	op.Out = r.floats(s.values())
	if s.weighted {
		op.Weights = r.upload(shares)
	}
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		if s.grouped {
			op.Groups = rec.GroupExperts(ops.GroupExperts{Label: "groups", IDs: op.IDs, Experts: s.experts,
				K: s.chosen})
		}
		rec.ExpertLinear(op)
	})
	want := s.twin(gate, up, h, ids, shares)
	return r.compare(r.read(op.Out, len(want)), want)
}

// values is how many come out.
func (s expertShape) values() int {
	n := s.tokens * s.rows
	if !s.weighted {
		n *= s.chosen
	}
	if s.allRows {
		n *= 2
	}
	return n
}

// twin is the product in plain loops.
func (s expertShape) twin(gate, up rows, h []float64, ids []uint32, shares []float64) []float64 {
	var out []float64
	for t := range s.tokens {
		sum := make([]float64, s.rows)
		for slot := range s.chosen {
			pair := t*s.chosen + slot
			x := h[t*s.cols:]
			if s.perSlot {
				x = h[pair*s.cols:]
			}
			for i := range s.rows {
				row := int(ids[pair])*s.rows + i
				v := activate(s.act, gate.dot(row, x))
				if s.allRows {
					out = append(out, v, up.dot(row, x))
					continue
				}
				if s.gated {
					v *= up.dot(row, x)
				}
				if s.weighted {
					sum[i] += shares[pair] * v
				} else {
					out = append(out, v)
				}
			}
		}
		if s.weighted {
			out = append(out, sum...)
		}
	}
	return out
}
