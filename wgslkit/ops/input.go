package ops

import (
	"maps"

	"github.com/gemwire/gemwire/wgslkit"
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

// Residual records o.Out = (x + rms(o.X; o.Weight)) · o.Scale for rows of n values.
func (r *Recorder) Residual(label string, x *wgslkit.Buffer, n int, o Residual) {
	r.prepared(label, Input{X: x, Add: &o}, n)
}

// prepared records what is made of the input, for all tokens, and returns an
// input that needs no more of it.
func (r *Recorder) prepared(label string, in Input, cols int) Input {
	if in.Add == nil && in.Norm == nil {
		return in
	}
	out := in.Add.out()
	if in.Norm != nil {
		out = r.temp("prepared input", r.width*cols)
	}
	r.prepare(label, in, cols, out, nil)
	return Input{X: out, Stride: cols}
}

// spread records what is made of the input, and lays it out as products of few tokens
// with w read it (wgsl/spread.wgsl), in groups of so many tokens.
func (r *Recorder) spread(label string, in Input, w *Matrix, tokens int) *wgslkit.Buffer {
	out := r.temp("spread input", ceilDiv(r.width, tokens)*tokens*w.row.units*16*w.row.spans)
	r.prepare(label, in, w.Cols, out, wgslkit.Variant{
		"SPREAD": true, "TOKENS": tokens, "COUNT": w.row.units, "SPANS": w.row.spans, "STEP": w.row.step,
	})
	return out
}

// Prepare makes of the input what several products read, where products of this
// recorder do not do that on their way: those get what it returns.
func (r *Recorder) Prepare(label string, in Input, cols int) Input {
	onTheirWay := r.width == 1 || r.kit.tuning.LargeMatvec && r.width <= mostFewTokens
	if r.err != nil || onTheirWay && !r.kit.tuning.SmallKernels {
		return in
	}
	return r.prepared(label, in, cols)
}

// Again is the input as another product reads it behind one that has read it: what
// was to be added is.
func (in Input) Again() Input {
	if in.Add != nil {
		in = Input{X: in.Add.Out, Norm: in.Norm}
	}
	return in
}

func (a *Residual) out() *wgslkit.Buffer {
	if a == nil {
		return nil
	}
	return a.Out
}

// prepareParams is Params of wgsl/prepare.wgsl.
type prepareParams struct {
	Cols, XOffset, XStride, Flags        uint32
	AddEps, AddScale, NormEps, NormScale float32
}

// prepare records what is made of the input into out; layout says where there, nil
// row by row.
func (r *Recorder) prepare(label string, in Input, cols int, out *wgslkit.Buffer, layout wgslkit.Variant) {
	f := in.factors()
	addX, addW, normW, addOut := r.inputBuffers(in)
	written := in.Norm != nil || layout != nil
	if !written {
		out = r.temp("unused output", 4)
	}
	v := r.rowVariant(wgslkit.Variant{"ADD": in.Add != nil, "NORM": in.Norm != nil, "OUT": written})
	maps.Copy(v, layout)
	if r.kit.tuning.MatvecLooped && !r.kit.tuning.SmallKernels {
		v["THREADS"] = r.kit.tuning.MatvecThreads
	}
	r.dispatch("prepare.wgsl", v, wgslkit.Call{
		Label: label,
		Bind:  bindAll(in.X, addX, addW, normW, addOut, out),
		Params: prepareParams{
			uint32(cols), uint32(in.Offset), uint32(orInt(in.Stride, cols)), in.flags(),
			f.addEps, f.addScale, f.normEps, f.normScale,
		},
		Grid: wgslkit.Grid{X: 1, Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}

// inputBuffers are the buffers of in.Add and in.Norm, with something harmless for those that it lacks.
func (r *Recorder) inputBuffers(in Input) (addX, addW, normW, addOut *wgslkit.Buffer) {
	any := in.X
	if in.Merge != nil {
		any = in.Merge.Buffer
	}
	addX, addW, normW = any, any, any
	if in.Add != nil {
		addX, addW, addOut = in.Add.X, orBuffer(in.Add.Weight, any), in.Add.Out
	} else {
		addOut = r.temp("unused sum", 4)
	}
	if in.Norm != nil {
		normW = orBuffer(in.Norm.Weight, any)
	}
	return addX, addW, normW, addOut
}

// factors are the numbers of Add and Norm.
type inputFactors struct{ addEps, addScale, normEps, normScale float32 }

func (in Input) factors() inputFactors {
	f := inputFactors{addScale: 1, normScale: 1}
	if in.Add != nil {
		f.addEps, f.addScale = in.Add.Eps, orOne(in.Add.Scale)
	}
	if in.Norm != nil {
		f.normEps, f.normScale = in.Norm.Eps, orOne(in.Norm.Scale)
	}
	return f
}

func (in Input) flags() uint32 {
	var flags uint32
	if in.Add != nil && in.Add.Weight != nil {
		flags |= flagAddWeighted
	}
	if in.Norm != nil && in.Norm.Weight != nil {
		flags |= flagNormWeighted
	}
	return flags
}

func bindAll(buffers ...*wgslkit.Buffer) []wgslkit.Binding {
	out := make([]wgslkit.Binding, len(buffers))
	for i, b := range buffers {
		if b != nil {
			out[i] = b.All()
		}
	}
	return out
}
