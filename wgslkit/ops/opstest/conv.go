package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

func convCases(*ops.Kit) []Case {
	var cases []Case
	add := func(op, name string, tolerance float64, run func(*rig) (float64, error)) {
		cases = append(cases, Case{Op: op, Name: name, Tolerance: tolerance,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(len(name)))
				defer r.close()
				return run(r)
			}})
	}
	for _, s := range []convShape{{1, 1, 1, 4, 2}, {7, 16, 1, 12, 8}, {6, 9, 8, 4, 6}, {13, 64, 5, 8, 13},
		{5, 11, 7, 5, 5}} {
		add("Conv2D", s.String(), 2e-6, func(r *rig) (float64, error) { return conv2DCase(r, s) })
	}
	for _, s := range normShapes {
		if s.size > 1 { // one value is its own mean
			add("LayerNormReLU", s.String(), 5e-6, func(r *rig) (float64, error) { return layerNormCase(r, s) })
		}
		for _, taps := range []int{1, 5} {
			name := fmt.Sprintf("%v_taps=%d", s, taps)
			add("GatedConv", name, 5e-6, func(r *rig) (float64, error) { return gatedConvCase(r, s, taps) })
		}
	}
	for _, s := range []relativeShape{{1, 1, 2, 12, 1, 1}, {3, 18, 12, 12, 40, 37}, {4, 16, 5, 12, 12, 12},
		{2, 128, 12, 12, 30, 30}} {
		add("RelativeAttention", fmt.Sprintf("%+v", s), 5e-6,
			func(r *rig) (float64, error) { return relativeCase(r, s) })
	}
	return cases
}

// convShape is rows, of which width have room, of bins positions.
type convShape struct{ rows, bins, inputs, outputs, width int }

func (s convShape) String() string {
	return fmt.Sprintf("%dof%dx%dx%d_into_%d", s.rows, s.width, s.bins, s.inputs, s.outputs)
}

func conv2DCase(r *rig, s convShape) (float64, error) {
	width := max(s.width, s.rows)
	x, w := r.normal(width*s.bins*s.inputs), r.normal(9*s.inputs*s.outputs)
	binsOut := (s.bins + 1) / 2
	padded := (s.outputs + 3) / 4 * 4
	var fours []float64
	for at := 0; at < len(w); at += s.outputs {
		fours = append(append(fours, w[at:at+s.outputs]...), make([]float64, padded-s.outputs)...)
	}
	op := ops.Conv2D{
		X: r.upload(x), W: r.upload(fours), Bins: s.bins, Inputs: s.inputs, Outputs: s.outputs,
		Y: r.floats((width + 1) / 2 * binsOut * s.outputs),
	}
	r.run(width, 0, s.rows, func(rec *ops.Recorder) { rec.Conv2D(op) })
	var want []float64
	for t := range (s.rows + 1) / 2 {
		for m := range binsOut {
			for o := range s.outputs {
				var sum float64
				for tap := range 9 {
					row, bin := 2*t+tap/3-1, 2*m+tap%3-1
					if row < 0 || row >= s.rows || bin < 0 || bin >= s.bins {
						continue
					}
					for i := range s.inputs {
						sum += w[(tap*s.inputs+i)*s.outputs+o] * x[(row*s.bins+bin)*s.inputs+i]
					}
				}
				want = append(want, sum)
			}
		}
	}
	return r.compare(r.read(op.Y, len(want)), want)
}

func layerNormCase(r *rig, s normShape) (float64, error) {
	x, w := r.normal(s.width*s.groups*s.size), r.weights(s.size)
	op := ops.LayerNormReLU{X: r.upload(x), Weight: r.upload(w), Groups: s.groups, Size: s.size, Eps: normEps}
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) { rec.LayerNormReLU(op) })
	var want []float64
	for at := 0; at < s.values(); at += s.size {
		var mean float64
		centred := make([]float64, s.size)
		for _, v := range x[at : at+s.size] {
			mean += v / float64(s.size)
		}
		for i := range centred {
			centred[i] = x[at+i] - mean
		}
		for _, v := range rms(centred, w, normEps) {
			want = append(want, max(0, v))
		}
	}
	return r.compare(r.read(op.X, len(want)), want)
}

func gatedConvCase(r *rig, s normShape, taps int) (float64, error) {
	size := s.groups * s.size
	x, w, norm := r.normal(s.width*2*size), r.normal(size*taps), r.weights(size)
	op := ops.GatedConv{
		X: r.upload(x), W: r.upload(w), Norm: r.upload(norm), Out: r.floats(s.width * size), Size: size, Taps: taps,
		Eps: normEps,
	}
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) { rec.GatedConv(op) })
	var want []float64
	for t := range s.tokens {
		y := make([]float64, size)
		for c := range y {
			for k := range taps {
				if from := t + k - (taps - 1); from >= 0 {
					y[c] += w[c*taps+k] * x[from*2*size+c] / (1 + math.Exp(-x[from*2*size+size+c]))
				}
			}
		}
		for _, v := range rms(y, norm, normEps) {
			want = append(want, activate(ops.SiLU, v))
		}
	}
	return r.compare(r.read(op.Out, len(want)), want)
}

type relativeShape struct{ heads, headDim, slack, window, width, tokens int }

func relativeCase(r *rig, s relativeShape) (float64, error) {
	const kScale, softcap = 1.9, 7
	d := s.heads * s.headDim
	stride := 3*d + s.slack
	x, distance := r.normal(s.width*stride+s.slack), r.normal(s.window*d)
	qScale, qBuffer := r.sharpened(r.weights(s.headDim))
	op := ops.RelativeAttention{
		In: ops.Slice{Buffer: r.upload(x), Offset: s.slack, Stride: stride}, QScale: qBuffer, KScale: kScale,
		Softcap:  softcap,
		Distance: r.upload(distance), Window: s.window, Heads: s.heads, HeadDim: s.headDim, Out: r.floats(s.width * d),
	}
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) { rec.RelativeAttention(op) })
	row := func(t, part, h int) []float64 {
		at := s.slack + t*stride + (part*s.heads+h)*s.headDim
		return x[at : at+s.headDim]
	}
	var want []float64
	for t := range s.tokens {
		for h := range s.heads {
			var weights []float64
			var sum float64
			for back := range min(s.window, t+1) {
				var ofKey, ofDistance float64
				for i, q := range row(t, 0, h) {
					ofKey += q * qScale[i] * row(t-back, 1, h)[i]
					ofDistance += q * qScale[i] * distance[(back*s.heads+h)*s.headDim+i]
				}
				w := math.Exp(softcap * math.Tanh((kScale*ofKey+ofDistance)/softcap))
				weights, sum = append(weights, w), sum+w
			}
			out := make([]float64, s.headDim)
			for back, w := range weights {
				for i, v := range row(t-back, 2, h) {
					out[i] += w * v / sum
				}
			}
			want = append(want, out...)
		}
	}
	return r.compare(r.read(op.Out, len(want)), want)
}
