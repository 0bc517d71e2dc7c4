package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// repeated is how often one program attends with the same inputs.
const repeated = 200

// mergesLastCases are what could go wrong between dispatches that leave their parts in
// the same buffer.
func mergesLastCases() []Case {
	one := attentionShape{heads: 8, kvHeads: 1, headDim: 64, slots: 600, position: 570, tokens: 1, width: 1,
		rotated: 64}
	few := attentionShape{heads: 6, kvHeads: 2, headDim: 32, slots: 300, position: 130, tokens: 3, width: 3,
		rotated: 32}
	// Of more keys than the last workgroup merges, of other layouts, and of one split.
	others := []attentionShape{
		{heads: 4, kvHeads: 2, headDim: 64, slots: 2300, position: 2250, tokens: 1, width: 1, rotated: 64},
		{heads: 9, kvHeads: 3, headDim: 18, slots: 1000, position: 999, tokens: 1, width: 1, rotated: 18},
		{heads: 4, kvHeads: 1, headDim: 128, slots: 400, window: 300, position: 390, tokens: 1, width: 1, rotated: 128},
		{heads: 4, kvHeads: 1, headDim: 64, slots: 60, position: 50, tokens: 1, width: 1, rotated: 64},
	}
	return []Case{
		lastCase("repeated", repeated, one),
		lastCase("repeated, few tokens", repeated/10, few),
		lastCase("among others", repeated/10, append(others, one)...),
	}
}

func lastCase(name string, times int, shapes ...attentionShape) Case {
	return Case{Op: "Attention", Name: mergesLast + "/" + name, Tolerance: 5e-6,
		Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(forms(kit)[mergesLast], 7)
			defer r.close()
			return r.attendInTurns(ctx, times, shapes)
		}}
}

// attending is one shape's attention and what has to come of it, every time: results
// has all that did, one behind the other.
type attending struct {
	state          *wgslkit.Buffer
	op             ops.Attention
	shape          attentionShape
	want           []float64
	blank, results *wgslkit.Buffer
}

// attendInTurns records each shape's attention in turn, so many times, in one program
// whose scratch buffers are shared. All results of a shape are the same to the bit.
func (r *rig) attendInTurns(ctx context.Context, times int, shapes []attentionShape) (float64, error) {
	var all []*attending
	width := 0
	for _, s := range shapes {
		all, width = append(all, r.attending(ctx, s, times)), max(width, s.width)
	}
	if r.err != nil {
		return 0, r.err
	}
	measured := r.kit.Measure(width)
	for _, a := range all {
		a.record(measured)
	}
	r.run(width, 0, width, func(rec *ops.Recorder) {
		rec.Reserve(measured)
		for turn := range times {
			for _, a := range all {
				// What is not written shows, not what was there before.
				size := len(a.want)
				rec.Copy(ops.Copy{In: a.blank, Out: a.op.Out, Size: size})
				a.record(rec)
				rec.Copy(ops.Copy{In: a.op.Out, Out: a.results, OutOffset: turn * size, Size: size})
			}
		}
	})
	var worst float64
	for _, a := range all {
		relErr, err := r.agree(a, times)
		if err != nil {
			return 0, fmt.Errorf("%v: %w", a.shape, err)
		}
		worst = max(worst, relErr)
	}
	return worst, nil
}

// attending makes a shape's inputs, with room for all results.
func (r *rig) attending(ctx context.Context, s attentionShape, times int) *attending {
	a := &attending{shape: s, state: r.words(uint32(s.position), uint32(s.tokens), 0)}
	c := r.cache(ops.CacheShape{Slots: s.slots, KVHeads: s.kvHeads, HeadDim: s.headDim, Type: cacheType(s.q8)})
	if r.err != nil {
		return a
	}
	keys, values := r.fill(ctx, c, s.position+s.tokens)
	rope, factors := r.rope(s.rotated, s.factors)
	norm, normBuffer := r.sharpened(r.weights(s.headDim))
	row := s.heads * s.headDim
	q := r.normal(s.width * row)
	a.op = ops.Attention{
		Label: "attention", Q: ops.Slice{Buffer: r.upload(q), Stride: row}, QNorm: normBuffer, Eps: normEps,
		Rope: rope, Heads: s.heads, Cache: c, Window: s.window, Out: r.floats(s.width * row),
	}
	a.blank, a.results = r.floats(s.width*row), r.floats(times*s.tokens*row)
	if r.rehearses {
		return a
	}
	for t := range s.tokens {
		for h := range s.heads {
			query := q[t*row+h*s.headDim:][:s.headDim]
			query = rotate(rms(query, norm, normEps), s.rotated, s.position+t, factors)
			a.want = append(a.want, s.attend(query, t, h/(s.heads/s.kvHeads), keys, values)...)
		}
	}
	return a
}

func (a *attending) record(rec *ops.Recorder) {
	rec.Window(0, a.shape.width, a.state, func() {
		if partials := rec.Attention(a.op); partials != nil {
			rec.Merge("merge", partials, a.op.Out)
		}
	})
}

// agree compares a's first result with the twin's, and the others with that one.
func (r *rig) agree(a *attending, times int) (float64, error) {
	n := len(a.want)
	words := r.readWords(a.results, times*n)
	for i, w := range words {
		if w != words[i%n] {
			return 0, fmt.Errorf("value %d is %g the first time and %g after %d turns",
				i%n, math.Float32frombits(words[i%n]), math.Float32frombits(w), i/n)
		}
	}
	return r.compare(r.read(a.results, n), a.want)
}
