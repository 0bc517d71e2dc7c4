package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// Activation is an elementwise function, as wgsl/activation.wgsl numbers them.
type Activation int

// The activations.
const (
	None Activation = iota
	// GELU is 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
	GELU
	// SiLU is x / (1 + e^−x).
	SiLU
)

// Linear is out = W·h over the input's h, with what follows it:
//
//	Gated:   out[r] = act(gate[r]·h) · (up[r]·h)     (W is Paired)
//	Mul:     out[r] = act(W[r]·h) · mul[r]
//	else:    out[r] = act(W[r]·h)
//	Softcap: out[r] = c·tanh(out[r] / c)
//	Bounds:  each W[r]·h above is clamp(W[r]·clamp(h, InMin, InMax), low[r], high[r]) + bias[r]
//	LowRank: each W[r]·h above is W[r]·h + B[r]·u
type Linear struct {
	Label     string
	W         *Matrix
	In        Input
	Out       *wgslkit.Buffer // [width, OutStride]
	OutOffset int             // values into each row of Out
	OutStride int             // 0 counts as the number of outputs
	Act       Activation
	Gated     bool
	Mul       *wgslkit.Buffer // [width, MulStride], nil for none
	MulOffset int
	MulStride int      // 0 counts as the number of outputs
	Softcap   float32  // 0 for none
	Bounds    *Bounds  // nil for none
	LowRank   *LowRank // nil for none

	// factors are what the sums of each token are multiplied by where In is float16
	// (halved), and nil where it is float32.
	factors *wgslkit.Buffer
}

// Linear records the product: one dispatch for each tile of W in a program of
// width one, and else one more that prepares the input.
//
// Three kernels share the work: one for a token, one for the few tokens of a draft,
// which reads weights as fast as memory gives them too, and tiles for a prompt's.
func (r *Recorder) Linear(o Linear) {
	if r.err != nil {
		return
	}
	if err := o.check(r.width); err != nil {
		r.fail(o.Label, err)
		return
	}
	o = o.complete()
	if r.kit.tuning.SmallKernels && o.In.Merge == nil {
		o.In = r.prepared(o.Label, o.In, o.W.Cols)
		r.product(o)
		return
	}
	if tokens := r.fewTokens(o); tokens > 0 {
		r.matvecFew(o, tokens)
		return
	}
	if r.largeMatvec(o) {
		r.matvecLarge(o)
		return
	}
	if r.width == 1 && o.Bounds == nil {
		r.matvec(o)
		return
	}
	o.In = r.prepared(o.Label, o.In, o.W.Cols)
	if r.onMatrices(o) {
		r.matmulMatrix(o)
		return
	}
	large := r.large(o)
	if r.onHalfTiles(o) {
		o = r.halved(o)
	}
	if r.err != nil {
		return
	}
	if large {
		r.matmulLarge(o)
		return
	}
	r.matmul(o)
}

// bind adds to the variant and the bindings of a product of many tokens what may
// come behind its output (wgsl/many_bindings.wgsl).
func (o Linear) bind(v wgslkit.Variant, bindings []wgslkit.Binding) []wgslkit.Binding {
	bindings = o.LowRank.bind(v, o.Bounds.bind(v, bindings))
	if o.factors == nil {
		return bindings
	}
	v["HALF_TILES"] = true
	return append(bindings, o.factors.All())
}

// complete is o with the strides that 0 stands for.
func (o Linear) complete() Linear {
	o.In.Stride = orInt(o.In.Stride, o.W.Cols)
	o.OutStride = orInt(o.OutStride, o.W.outputs(o.Gated))
	o.MulStride = orInt(o.MulStride, o.W.outputs(o.Gated))
	return o
}

func (o Linear) check(width int) error {
	switch {
	case o.W == nil || len(o.W.tiles) == 0:
		return fmt.Errorf("%w: matrix", wgslkit.ErrReleased)
	case o.Gated != (o.W.Layout == Paired):
		return fmt.Errorf("%w: a gated product takes a paired matrix, another one does not", wgslkit.ErrValidation)
	case o.In.Merge != nil && o.Bounds != nil:
		return fmt.Errorf("%w: a product with bounds does not merge partial attention", wgslkit.ErrValidation)
	case o.In.Merge != nil && width != 1:
		return fmt.Errorf("%w: partial attention is merged in programs of width one", wgslkit.ErrValidation)
	case o.In.Merge != nil && o.In.Merge.Heads*o.In.Merge.HeadDim != o.W.Cols:
		return fmt.Errorf("%w: %d heads of %d values for %d columns", wgslkit.ErrValidation, o.In.Merge.Heads, o.In.Merge.HeadDim, o.W.Cols)
	}
	return o.LowRank.check(o)
}

// Bits of the params' flags.
const (
	flagAddWeighted uint32 = 1 << iota
	flagNormWeighted
	flagMul
	flagAdded
	flagPerSlot
	flagGated
)

func (o Linear) flags() uint32 {
	flags := o.In.flags()
	if o.Mul != nil {
		flags |= flagMul
	}
	if o.Gated {
		flags |= flagGated
	}
	return flags
}

func orInt(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

func orBuffer(b, otherwise *wgslkit.Buffer) *wgslkit.Buffer {
	if b == nil {
		return otherwise
	}
	return b
}
