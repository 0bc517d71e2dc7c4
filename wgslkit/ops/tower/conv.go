package tower

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Conv2D is a convolution of 3 × 3 with stride 2, with zeros around, over the
// program's tokens as rows of Bins positions of Inputs values:
//
//	Y[t, m, o] = Σ W[dt, dm, i, o] · X[2t + dt − 1, 2m + dm − 1, i]
type Conv2D struct {
	Label           string
	X               *wgslkit.Buffer // [width, Bins, Inputs]
	W               *wgslkit.Buffer // [3, 3, Inputs, Outputs padded to whole fours]
	Y               *wgslkit.Buffer // [⌈width / 2⌉, ⌈Bins / 2⌉, Outputs]
	Bins            int
	Inputs, Outputs int
}

type conv2DParams struct{ Bins, Inputs, Outputs uint32 }

// conv2DBins is BINS of conv2d.wgsl.
const conv2DBins = 4

// Record records the op.
func (o Conv2D) Record(r *record.Recorder) {
	if o.Bins < 1 || o.Inputs < 1 || o.Outputs < 1 {
		r.Fail(o.Label, fmt.Errorf("%w: a convolution of %d bins of %d values into %d", wgslkit.ErrValidation, o.Bins,
			o.Inputs, o.Outputs))
		return
	}
	threads := record.CeilDiv((o.Bins+1)/2, conv2DBins) * record.CeilDiv(o.Outputs, 4)
	r.Dispatch(Files, "conv2d.wgsl", wgslkit.Variant{"THREADS": record.GridThreads}, wgslkit.Call{
		Label: o.Label, Params: conv2DParams{uint32(o.Bins), uint32(o.Inputs), uint32(o.Outputs)},
		Bind: record.BindAll(r.State(), o.X, o.W, o.Y),
		Grid: wgslkit.Grid{X: uint32(record.CeilDiv(threads, record.GridThreads)), Y: 1, Tile: 2,
			Along: wgslkit.AlongY},
	})
}

// LayerNormReLU is x ← max(0, (x − mean) / sqrt(variance + Eps) ⊙ Weight) for
// each group of Size values.
type LayerNormReLU struct {
	Label  string
	X      *wgslkit.Buffer // [width, Groups, Size]
	Weight *wgslkit.Buffer // [Size]
	Groups int             // 0 counts as 1
	Size   int
	Eps    float32
}

type layerNormParams struct {
	Size, Groups uint32
	Eps          float32
}

// Record records the op.
func (o LayerNormReLU) Record(r *record.Recorder) {
	groups := max(o.Groups, 1)
	r.Dispatch(Files, "layer_norm_relu.wgsl", wgslkit.Variant{"THREADS": record.GridThreads}, wgslkit.Call{
		Label: o.Label, Params: layerNormParams{uint32(o.Size), uint32(groups), o.Eps},
		Bind: record.BindAll(r.State(), o.Weight, o.X),
		Grid: wgslkit.Grid{X: uint32(record.CeilDiv(groups, record.GridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}

// GatedConv is a causal convolution of each of Size values over tokens, of gated
// inputs, with what follows it:
//
//	g[t, c] = X[t, c] · σ(X[t, Size + c])
//	y[t, c] = Σ W[c, k] · g[t + k − (Taps − 1), c], with zeros before the first token
//	Out[t] = silu(rms(y[t]; Norm))
type GatedConv struct {
	Label      string
	X          *wgslkit.Buffer // [width, 2·Size]
	W          *wgslkit.Buffer // [Size, Taps]
	Norm       *wgslkit.Buffer // [Size]
	Out        *wgslkit.Buffer // [width, Size]
	Size, Taps int
	Eps        float32
}

type gatedConvParams struct {
	Size, Taps uint32
	Eps        float32
}

// Record records the op.
func (o GatedConv) Record(r *record.Recorder) {
	r.Dispatch(Files, "gated_conv.wgsl", r.RowVariant(wgslkit.Variant{}), wgslkit.Call{
		Label: o.Label, Params: gatedConvParams{uint32(o.Size), uint32(o.Taps), o.Eps},
		Bind: record.BindAll(o.X, o.W, o.Norm, o.Out),
		Grid: record.RowGrid(1),
	})
}
