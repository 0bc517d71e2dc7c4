package ops

import "github.com/gemwire/gemwire/wgslkit"

// Activation is an elementwise function.
type Activation int

// The activations.
const (
	None Activation = iota
	// GELU is 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
	GELU
	// SiLU is x / (1 + e^−x).
	SiLU
)

// Norm is rms(x; w) · Scale = x / sqrt(mean(x²) + Eps) ⊙ w · Scale.
type Norm struct {
	Weight *wgslkit.Buffer // [cols], nil for none
	Eps    float32
	Scale  float32 // of the normalised value; 0 counts as 1
}

// Residual is the sum that ends a block: Out = (x + rms(X; Weight)) · Scale,
// where x is the op's own input.
type Residual struct {
	X      *wgslkit.Buffer // [width, cols], what is added
	Weight *wgslkit.Buffer // [cols], nil for no weight
	Eps    float32
	Scale  float32         // 0 counts as 1
	Out    *wgslkit.Buffer // [width, cols], another buffer than x and X
}

// Input is what a product reads: x, or what is made of it on the way in.
type Input struct {
	X      *wgslkit.Buffer // [width, Stride]
	Offset int             // values into each row of X
	Stride int             // values from row to row, 0 counts as the matrix's columns
	// Add, where set, makes x ← (x + rms(Add.X; Add.Weight)) · Add.Scale first,
	// and leaves that in Add.Out.
	Add *Residual
	// Norm, where set, then makes h = rms(x; Norm.Weight) · Norm.Scale.
	Norm *Norm
	// Merge, where set, takes x from the partial results of split attention
	// instead of X (only in programs of width one).
	Merge *Partials
}

// Linear is out = W·h over the input's h, with what follows it:
//
//	Gated:   out[r] = act(gate[r]·h) · (up[r]·h)     (W is Paired)
//	Mul:     out[r] = act(W[r]·h) · mul[r]
//	else:    out[r] = act(W[r]·h)
//	Softcap: out[r] = c·tanh(out[r] / c)
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
	MulStride int     // 0 counts as the number of outputs
	Softcap   float32 // 0 for none
}

// Linear records the product.
func (r *Recorder) Linear(o Linear) { r.fail(o.Label, errNotImplemented) }

// Residual records o.Out = (x + rms(o.X; o.Weight)) · o.Scale for rows of n values.
func (r *Recorder) Residual(label string, x *wgslkit.Buffer, n int, o Residual) {
	r.fail(label, errNotImplemented)
}
