package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

// gridShape is tokens of one image: columns of them in a row.
type gridShape struct {
	heads, headDim         int
	columns, tokens, width int
	window                 int // tokens whose rows go through In at once; 0 for all
}

var gridShapes = []gridShape{
	{heads: 1, headDim: 4, columns: 1, tokens: 1, width: 1},
	{heads: 3, headDim: 12, columns: 7, tokens: 35, width: 40},
	{heads: 4, headDim: 16, columns: 24, tokens: 24 * 6, width: 200},
	{heads: 2, headDim: 32, columns: 9, tokens: 63, width: 64},
	{heads: 2, headDim: 64, columns: 33, tokens: 99, width: 99},
	{heads: 3, headDim: 72, columns: 12, tokens: 72, width: 100},
	{heads: 2, headDim: 160, columns: 5, tokens: 40, width: 40},
	{heads: 3, headDim: 12, columns: 7, tokens: 70, width: 100, window: 32}, // of the last, nothing is there
}

func (s gridShape) String() string {
	name := fmt.Sprintf("%dx%d_%dof%d_in_%d", s.heads, s.headDim, s.tokens, s.width, s.columns)
	if s.window > 0 {
		name += fmt.Sprintf("_by_%d", s.window)
	}
	return name
}

// manyTokens is as many tokens as an image of the usual budget has.
var manyTokens = gridShape{heads: 1, headDim: 32, columns: 63, tokens: 2520, width: 2520}

func fullAttentionCases(kit *ops.Kit) []Case {
	var cases []Case
	for _, form := range []string{"few cores", "many cores"} {
		shapes := gridShapes
		if form == "few cores" {
			shapes = append(shapes[:len(shapes):len(shapes)], manyTokens)
		} else if kit.Device().Info().SlowCompiler {
			shapes = gridShapes[1:2] // it takes seconds for each of these
		}
		for _, s := range shapes {
			cases = append(cases, Case{Op: "FullAttention", Name: form + "/" + s.String(), Tolerance: 1e-3, Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(forms(kit)[form], uint64(s.headDim))
				defer r.close()
				return fullAttentionCase(r, s)
			}})
		}
	}
	return cases
}

func fullAttentionCase(r *rig, s gridShape) (float64, error) {
	const theta, offset, slack = 100, 4, 8
	d := s.heads * s.headDim
	stride := 3*d + slack
	x := r.normal(offset + s.width*stride)
	qNorm, qBuffer := r.sharpened(r.weights(s.headDim))
	kNorm, kBuffer := r.weight(true, s.headDim)
	rope, err := r.kit.NewRope("case", theta, s.headDim/2, nil)
	r.keep(err)
	r.release = append(r.release, rope.Release)
	xBuffer, out := r.upload(x), r.floats(s.width*d)
	r.columns = s.columns
	o := ops.FullAttention{
		In: ops.Slice{Buffer: xBuffer, Offset: offset, Stride: stride}, QNorm: qBuffer, KNorm: kBuffer, Eps: normEps,
		Rope: rope, Heads: s.heads, HeadDim: s.headDim, Out: out,
	}
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		if s.window == 0 {
			rec.FullAttention(o)
			return
		}
		for first := 0; first < s.width; first += s.window {
			here := o
			here.In.Offset += first * stride
			state := r.words(0, uint32(min(max(s.tokens-first, 0), s.window)), uint32(s.columns))
			rec.Window(first, s.window, state, func() { rec.FullAttentionHeads(here, s.width) })
		}
		rec.FullAttentionOfHeads(o)
	})
	got := r.read(out, s.tokens*d)
	part := func(t, part, h int) []float64 {
		at := offset + t*stride + (part*s.heads+h)*s.headDim
		return x[at : at+s.headDim]
	}
	// Of many tokens, the attention of some says enough.
	step := 1 + s.tokens/300*37
	var seen, want []float64
	for h := range s.heads {
		keys, values := make([][]float64, s.tokens), make([][]float64, s.tokens)
		for t := range s.tokens {
			keys[t] = s.turned(rms(part(t, 1, h), kNorm, normEps), t, theta)
			values[t] = rms(part(t, 2, h), nil, normEps)
		}
		for t := 0; t < s.tokens; t += step {
			query := s.turned(rms(part(t, 0, h), qNorm, normEps), t, theta)
			want = append(want, softmaxSum(query, keys, values)...)
			seen = append(seen, got[(t*s.heads+h)*s.headDim:(t*s.heads+h+1)*s.headDim]...)
		}
	}
	return r.compare(seen, want)
}

// turned rotates the halves of a head by the token's column and row.
func (s gridShape) turned(x []float64, token int, theta float64) []float64 {
	half := len(x) / 2
	y := make([]float64, len(x))
	for part, position := range []int{token % s.columns, token / s.columns} {
		for j := range half / 2 {
			angle := float64(position) * math.Pow(theta, -2*float64(j)/float64(half))
			sin, cos := math.Sincos(angle)
			a, b := x[part*half+j], x[part*half+half/2+j]
			y[part*half+j], y[part*half+half/2+j] = a*cos-b*sin, b*cos+a*sin
		}
	}
	return y
}

// softmaxSum is one query's attention over all keys, by the definition.
func softmaxSum(query []float64, keys, values [][]float64) []float64 {
	scores := make([]float64, len(keys))
	top := math.Inf(-1)
	for j, key := range keys {
		for d, k := range key {
			scores[j] += query[d] * k
		}
		top = max(top, scores[j])
	}
	out := make([]float64, len(query))
	var sum float64
	for j, score := range scores {
		w := math.Exp(score - top)
		sum += w
		for d, v := range values[j] {
			out[d] += w * v
		}
	}
	return scaled(out, 1/sum)
}
