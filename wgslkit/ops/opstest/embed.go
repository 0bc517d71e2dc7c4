package opstest

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// embedShape is a table of rows and tokens that look some of them up.
type embedShape struct {
	quant         quant.Type
	rows, cols    int
	width, tokens int
}

func embedCases(*ops.Kit) []Case {
	var shapes []embedShape
	for _, row := range quantRows {
		n := row.quant.BlockLen()
		shapes = append(shapes, embedShape{row.quant, 37, 3 * n, 5, 4},
			embedShape{row.quant, 301, max(n, 32) * 9, 1, 1})
		if n == 1 {
			shapes = append(shapes, embedShape{row.quant, 1, 1, 1, 1}, embedShape{row.quant, 5, 77, 3, 3})
		}
	}
	var cases []Case
	for _, s := range shapes {
		name := fmt.Sprintf("%v_%dx%d_%dof%d", s.quant, s.rows, s.cols, s.tokens, s.width)
		cases = append(cases, Case{Op: "Embed", Name: name, Tolerance: 5e-7,
			Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(s.rows))
				defer r.close()
				return s.run(ctx, r)
			}})
	}
	return cases
}

func (s embedShape) run(ctx context.Context, r *rig) (float64, error) {
	const scale = 1.25
	table := r.rows(s.quant, s.rows, s.cols, 0)
	ids := make([]uint32, s.tokens)
	var want []float64
	for t := range ids {
		// The first and the last row, and one beyond the table, which gives zeros.
		ids[t] = uint32([]int{s.rows - 1, 0, s.rows, r.random.IntN(s.rows)}[t%4])
		row := make([]float64, s.cols)
		if int(ids[t]) < s.rows {
			row = scaled(table.values[int(ids[t])*s.cols:][:s.cols], scale)
		}
		want = append(want, row...)
	}
	op := ops.Embed{Label: "case", Table: r.matrix(ctx, ops.Stacked, table), IDs: r.words(ids...),
		Out: r.floats(len(want)), Scale: scale}
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) { rec.Embed(op) })
	return r.compare(r.read(op.Out, len(want)), want)
}
