package opstest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

// gridShape is tokens of one image: columns of them in a row.
type gridShape struct {
	heads, headDim         int
	columns, tokens, width int
	window                 int // tokens whose rows go through In at once; 0 for all
	// rising makes scores that grow from key to key up to about so many, with all
	// tokens in one column; 0 for scores of order one.
	rising float64
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
	if s.rising > 0 {
		name += fmt.Sprintf("_to_%g", s.rising)
	}
	return name
}

// matrixShapes are those that matter where tiles are of matrices: ends of tiles, heads
// that matrices do not divide, and maxima that have to be chosen again, or nearly.
var matrixShapes = []gridShape{
	{heads: 2, headDim: 64, columns: 1, tokens: 1, width: 130},
	{heads: 1, headDim: 64, columns: 16, tokens: 128, width: 128},
	{heads: 3, headDim: 64, columns: 43, tokens: 129, width: 129},
	{heads: 12, headDim: 64, columns: 20, tokens: 260, width: 300},
	{heads: 2, headDim: 72, columns: 11, tokens: 143, width: 143},
	{heads: 2, headDim: 4, columns: 10, tokens: 70, width: 70},
	{heads: 2, headDim: 128, columns: 15, tokens: 195, width: 200},
	{heads: 2, headDim: 64, columns: 1, tokens: 301, width: 301, rising: 9},
	{heads: 2, headDim: 64, columns: 1, tokens: 301, width: 301, rising: 60},
	{heads: 1, headDim: 64, columns: 1, tokens: 200, width: 200, rising: 1000},
	{heads: 3, headDim: 72, columns: 1, tokens: 143, width: 150, rising: 40},
	{heads: 1, headDim: 128, columns: 1, tokens: 131, width: 131, rising: 60},
}

// manyTokens is as many tokens as an image of the usual budget has.
var manyTokens = gridShape{heads: 1, headDim: 32, columns: 63, tokens: 2520, width: 2520}

func fullAttentionCases(kit *ops.Kit) []Case {
	var cases []Case
	for _, form := range []string{"few cores", "many cores", onMatrices, onFewMatrices} {
		if !has(kit, form) {
			continue
		}
		shapes := gridShapes
		switch {
		case form == "few cores":
			shapes = append(shapes[:len(shapes):len(shapes)], manyTokens)
		case kit.Device().Info().SlowCompiler:
			shapes = gridShapes[1:2] // it takes seconds for each of these
		case form == onMatrices:
			shapes = slices.Concat(gridShapes, matrixShapes, []gridShape{manyTokens})
		case form == onFewMatrices:
			shapes = slices.DeleteFunc(slices.Concat(gridShapes[1:3], matrixShapes),
				func(s gridShape) bool { return s.headDim > 72 })
		}
		for _, s := range shapes {
			cases = append(cases, Case{Op: "FullAttention", Name: form + "/" + s.String(), Tolerance: 1e-3,
				Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
					r := newRig(forms(kit)[form], uint64(s.headDim))
					defer r.close()
					return fullAttentionCase(r, s)
				}})
		}
	}
	return cases
}

// fullAttentionCase compares with a twin that rounds to float16 what goes into matrices
// where there are some, but for weights: those say by how much the kernel is off.
func fullAttentionCase(r *rig, s gridShape) (float64, error) {
	const theta, offset, slack = 100, 4, 8
	d := s.heads * s.headDim
	stride := 3*d + slack
	x := r.normal(offset + s.width*stride)
	if s.rising > 0 {
		s.rise(x[offset:], stride)
	}
	qNorm, qBuffer := r.sharpened(s.queryWeights(r))
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
	halves := false
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		halves = rec.AttendsThroughFloat16(o)
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
	rounded := func(v []float64) []float64 {
		if halves {
			return r.half16(v)
		}
		return v
	}
	var seen, want []float64
	for h := range s.heads {
		keys, values := make([][]float64, s.tokens), make([][]float64, s.tokens)
		for t := range s.tokens {
			keys[t] = rounded(s.turned(rms(part(t, 1, h), kNorm, normEps), t, theta))
			values[t] = rounded(rms(part(t, 2, h), nil, normEps))
		}
		for t := 0; t < s.tokens; t += step {
			query := rounded(s.turned(rms(part(t, 0, h), qNorm, normEps), t, theta))
			want = append(want, softmaxSum(query, keys, values)...)
			seen = append(seen, got[(t*s.heads+h)*s.headDim:(t*s.heads+h+1)*s.headDim]...)
		}
	}
	return r.compare(seen, want)
}

// queryWeights are those that sharpened makes scores of order one of, or of s.rising.
func (s gridShape) queryWeights(r *rig) []float64 {
	w := r.weights(s.headDim)
	if s.rising == 0 {
		return w
	}
	// Half of a head's values are the same in queries and in the last keys.
	return scaled(w, s.rising/2/math.Sqrt(float64(s.headDim)))
}

// rise makes the first half of each query a direction, and of each key more of that
// the later it comes. In one column, that half is not rotated.
func (s gridShape) rise(x []float64, stride int) {
	for t := range s.tokens {
		for i := range s.heads * s.headDim {
			if j := i % s.headDim; j < s.headDim/2 {
				sign := float64(1 - 2*(j&1))
				x[t*stride+i] = 3*sign + 0.1*x[t*stride+i]
				x[t*stride+s.heads*s.headDim+i] *= 0.1
				x[t*stride+s.heads*s.headDim+i] += sign * float64(t) / float64(s.tokens)
			}
		}
	}
	for i, v := range x {
		x[i] = float64(float32(v))
	}
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
