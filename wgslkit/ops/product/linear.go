package product

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rowwise"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
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
	W         *weights.Matrix
	In        Input
	Out       *wgslkit.Buffer // [width, OutStride]
	OutOffset int             // values into each row of Out
	OutStride int             // 0 counts as the number of outputs
	Act       rowwise.Activation
	Gated     bool
	Mul       *wgslkit.Buffer // [width, MulStride], nil for none
	MulOffset int
	MulStride int      // 0 counts as the number of outputs
	Softcap   float32  // 0 for none
	Bounds    *Bounds  // nil for none
	LowRank   *LowRank // nil for none
	// Float32 keeps inputs and weights in float32 where a faster kernel would round them
	// to float16.
	Float32 bool
}

// Record records the product: one dispatch for each tile of W in a program of width one,
// and else one more that prepares the input. choose.go is the table of its kernels.
func (o Linear) Record(r *record.Recorder) { recordLinear(r, o, false) }

// AllRows is Out[t] = W·x, or with LowRank W·x + B·u, for every row of W in W's own
// order, whatever its layout: of a Paired matrix gate and up take turns.
type AllRows struct {
	Label string
	W     *weights.Matrix
	X     record.Slice    // rows of W.Cols
	Out   *wgslkit.Buffer // [width, W.Rows]
	// Softcap makes each value c·tanh(value / c); 0 for none.
	Softcap float32
	LowRank *LowRank // nil for none
}

// Record records the product.
func (o AllRows) Record(r *record.Recorder) {
	l := Linear{
		Label: o.Label, W: o.W, Out: o.Out, Softcap: o.Softcap, LowRank: o.LowRank,
		In: Input{X: o.X.Buffer, Offset: o.X.Offset, Stride: o.X.Stride},
	}
	recordLinear(r, l, true)
}

// recordLinear is the way of a product: it is checked and completed once, its kernel is
// chosen once, and what is recorded is a finished operand.
func recordLinear(r *record.Recorder, o Linear, inOrder bool) {
	if r.Err() != nil {
		return
	}
	p, err := newOperand(o, r.Width(), inOrder)
	if err != nil {
		r.Fail(o.Label, err)
		return
	}
	p.record(r)
}

// ThroughFloat16 says whether Linear rounds the inputs and the weights of o to float16:
// on subgroup matrices (MatrixTuning) or in tiles (Tuning.HalfTiles). Sums are float32.
func ThroughFloat16(r *record.Recorder, o Linear) bool {
	if r.Err() != nil {
		return false
	}
	p, err := newOperand(o, r.Width(), false)
	return err == nil && choose(r.Width(), p.asks(), p.offers(r)).halves
}
