package opstest

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

// poolShape is an image of columns × rows tokens of size values.
type poolShape struct {
	columns, rows, pool, size int
	standardised              bool
}

var poolShapes = []poolShape{
	{1, 1, 1, 1, false}, {9, 6, 3, 64, true}, {6, 27, 3, 65, false}, {4, 2, 2, 130, true},
}

func gridCases(*ops.Kit) []Case {
	var cases []Case
	add := func(op string, s poolShape, run func(*rig, poolShape) (float64, error)) {
		name := fmt.Sprintf("%dx%d_by_%d_%d_standardised=%t", s.columns, s.rows, s.pool, s.size, s.standardised)
		cases = append(cases, Case{Op: op, Name: name, Tolerance: 2e-6,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(s.size))
				defer r.close()
				r.columns = s.columns
				return run(r, s)
			}})
	}
	for _, s := range poolShapes {
		add("GridEmbed", s, gridEmbedCase)
		add("GridPool", s, gridPoolCase)
		add("Add", s, addCase)
	}
	return cases
}

func gridPoolCase(r *rig, s poolShape) (float64, error) {
	const scale = 8
	tokens := s.columns * s.rows
	x := r.normal(tokens * s.size)
	op := ops.GridPool{X: r.upload(x), Size: s.size, Pool: s.pool, Scale: scale}
	bias, factor := make([]float64, s.size), make([]float64, s.size)
	for i := range factor {
		factor[i] = 1
	}
	if s.standardised {
		bias, factor = r.normal(s.size), r.weights(s.size)
		op.Bias, op.Factor = r.upload(bias), r.upload(factor)
	}
	squares := tokens / s.pool / s.pool
	op.Out = r.floats(squares * s.size)
	r.run(tokens+s.pool*s.pool, 0, tokens, func(rec *ops.Recorder) { rec.GridPool(op) })
	want := make([]float64, squares*s.size)
	for t := range tokens {
		square := t/s.columns/s.pool*(s.columns/s.pool) + t%s.columns/s.pool
		for i := range s.size {
			want[square*s.size+i] += scale * x[t*s.size+i] / float64(s.pool*s.pool)
		}
	}
	for i := range want {
		want[i] = (want[i] - bias[i%s.size]) * factor[i%s.size]
	}
	return r.compare(r.read(op.Out, len(want)), want)
}

func gridEmbedCase(r *rig, s poolShape) (float64, error) {
	tokens := s.columns * s.rows
	x, table := r.normal(tokens*s.size), r.normal((s.columns+s.rows)*s.size)
	op := ops.GridEmbed{X: r.upload(x), Table: r.upload(table), Size: s.size, Scale: 2}
	r.run(tokens, 0, tokens, func(rec *ops.Recorder) { rec.GridEmbed(op) })
	want := make([]float64, len(x))
	for i, v := range x {
		t, n := i/s.size, i%s.size
		want[i] = 2*v + table[t%s.columns*s.size+n] + table[(s.columns+t/s.columns)*s.size+n]
	}
	return r.compare(r.read(op.X, len(want)), want)
}

func addCase(r *rig, s poolShape) (float64, error) {
	tokens := s.columns * s.rows
	x, y := r.normal(tokens*s.size), r.normal(tokens*s.size)
	op := ops.Add{X: r.upload(x), Y: r.upload(y), Size: s.size}
	r.run(tokens, 0, tokens, func(rec *ops.Recorder) { rec.Add(op) })
	want := make([]float64, len(x))
	for i := range want {
		want[i] = x[i] + y[i]
	}
	return r.compare(r.read(op.X, len(want)), want)
}
