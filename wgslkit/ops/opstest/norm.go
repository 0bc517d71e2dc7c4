package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

const normEps = 1e-6

// rms is x / sqrt(mean(x²) + eps) ⊙ w, with w nil for ones.
func rms(x, w []float64, eps float64) []float64 {
	var squares float64
	for _, v := range x {
		squares += v * v
	}
	inverse := 1 / math.Sqrt(squares/float64(len(x))+eps)
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v * inverse
		if w != nil {
			y[i] *= w[i]
		}
	}
	return y
}

func scaled(x []float64, factor float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v * factor
	}
	return y
}

// normShape is rows of groups of size values, of which tokens are computed.
type normShape struct {
	width, tokens, groups, size int
	weighted                    bool
}

var normShapes = []normShape{
	{1, 1, 1, 1, true}, {1, 1, 1, 31, false}, {1, 1, 1, 256, true}, {1, 1, 1, 1536, true}, {1, 1, 35, 256, true},
	{5, 3, 1, 257, true}, {4, 4, 7, 64, false}, {9, 9, 3, 130, true},
}

func (s normShape) String() string {
	return fmt.Sprintf("%dof%d_%dx%d_weighted=%t", s.tokens, s.width, s.groups, s.size, s.weighted)
}

func (s normShape) values() int { return s.tokens * s.groups * s.size }

// weight is a row's weights and their buffer, or nothing.
func (r *rig) weight(weighted bool, size int) ([]float64, *wgslkit.Buffer) {
	if !weighted {
		return nil, nil
	}
	w := r.weights(size)
	return w, r.upload(w)
}

func normCases(*ops.Kit) []Case {
	var cases []Case
	add := func(op string, s normShape, run func(*rig, normShape) (float64, error)) {
		cases = append(cases, Case{Op: op, Name: s.String(), Tolerance: 2e-6,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(s.size))
				defer r.close()
				return run(r, s)
			}})
	}
	for _, s := range normShapes {
		add("RMSNorm", s, rmsNormCase)
		add("LayerNorm", s, layerNormRowsCase)
		add("NormAdd", s, normAddCase)
		add("SumNorms", s, sumNormsCase)
		add("SelectLast", s, selectLastCase)
	}
	return cases
}

func rmsNormCase(r *rig, s normShape) (float64, error) {
	const scale, offset = 0.4, 3
	stride := s.groups*s.size + 5
	x := r.normal(offset + s.width*stride)
	w, wBuffer := r.weight(s.weighted, s.size)
	xBuffer, y := r.upload(x), r.floats(s.width*s.groups*s.size)
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		rec.RMSNorm(ops.RMSNorm{
			X: xBuffer, XOffset: offset, XStride: stride, Y: y, Weight: wBuffer,
			Groups: s.groups, Size: s.size, Eps: normEps, Scale: scale,
		})
	})
	var want []float64
	for t := range s.tokens {
		for g := range s.groups {
			at := offset + t*stride + g*s.size
			want = append(want, rms(scaled(x[at:at+s.size], scale), w, normEps)...)
		}
	}
	return r.compare(r.read(y, s.values()), want)
}

func layerNormRowsCase(r *rig, s normShape) (float64, error) {
	size := s.groups * s.size
	// Far from zero, where a variance as E(x²) − E(x)² loses its digits.
	x := r.normal(s.width * size)
	for i := range x {
		x[i] += 3
	}
	w, b := r.weights(size), r.normal(size)
	xBuffer, y := r.upload(x), r.floats(s.width*size)
	wBuffer, bBuffer := r.upload(w), r.upload(b)
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		rec.LayerNorm(ops.LayerNorm{X: xBuffer, Y: y, Weight: wBuffer, Bias: bBuffer, Size: size, Eps: normEps})
	})
	var want []float64
	for at := 0; at < s.values(); at += size {
		want = append(want, layerNormed(x[at:at+size], w, b)...)
	}
	return r.compare(r.read(y, s.values()), want)
}

// layerNormed is (x − mean) / sqrt(variance + normEps) ⊙ w + b.
func layerNormed(x, w, b []float64) []float64 {
	var mean float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	centred := make([]float64, len(x))
	for i, v := range x {
		centred[i] = v - mean
	}
	y := rms(centred, w, normEps)
	for i := range y {
		y[i] += b[i]
	}
	return y
}

func normAddCase(r *rig, s normShape) (float64, error) {
	const aScale, bScale, outScale = 0.05, 16, 0.70710678
	n := s.width * s.groups * s.size
	a, b := r.normal(n), r.normal(n)
	w, wBuffer := r.weight(s.weighted, s.size)
	aBuffer, bBuffer, out := r.upload(a), r.upload(b), r.floats(n)
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		rec.NormAdd(ops.NormAdd{
			A: aBuffer, B: bBuffer, Out: out, Weight: wBuffer, Groups: s.groups, Size: s.size,
			Eps: normEps, AScale: aScale, BScale: bScale, OutScale: outScale,
		})
	})
	var want []float64
	for at := 0; at < s.values(); at += s.size {
		for i, v := range rms(scaled(a[at:at+s.size], aScale), w, normEps) {
			want = append(want, (v+bScale*b[at+i])*outScale)
		}
	}
	return r.compare(r.read(out, s.values()), want)
}

func sumNormsCase(r *rig, s normShape) (float64, error) {
	size := s.groups * s.size
	a, b := r.normal(s.width*size), r.normal(s.width*size)
	aw, awBuffer := r.weight(s.weighted, size)
	bw, bwBuffer := r.weight(!s.weighted || s.size%2 == 0, size)
	aBuffer, bBuffer, out := r.upload(a), r.upload(b), r.floats(s.width*size)
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		rec.SumNorms(ops.SumNorms{A: aBuffer, B: bBuffer, Out: out, AWeight: awBuffer, BWeight: bwBuffer, Size: size,
			Eps: normEps})
	})
	var want []float64
	for at := 0; at < s.values(); at += size {
		bn := rms(b[at:at+size], bw, normEps)
		for i, v := range rms(a[at:at+size], aw, normEps) {
			want = append(want, v+bn[i])
		}
	}
	return r.compare(r.read(out, s.values()), want)
}

func selectLastCase(r *rig, s normShape) (float64, error) {
	const offset = 2
	size := s.groups * s.size
	stride := size + 3
	x := r.normal(offset + s.width*stride)
	xBuffer, out := r.upload(x), r.floats(size)
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		rec.SelectLast(ops.SelectLast{In: ops.Slice{Buffer: xBuffer, Offset: offset, Stride: stride}, Out: out,
			Size: size})
	})
	at := offset + (s.tokens-1)*stride
	return r.compare(r.read(out, size), x[at:at+size])
}
