package product

import (
	"maps"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/attention"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
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
	Merge *attention.Partials
}

// AddResidual records o.Out = (x + rms(o.X; o.Weight)) · o.Scale for rows of n values.
func AddResidual(r *record.Recorder, label string, x *wgslkit.Buffer, n int, o Residual) {
	Prepared(r, label, Input{X: x, Add: &o}, n)
}

// Prepared records what is made of the input, for all tokens, and returns an
// input that needs no more of it.
func Prepared(r *record.Recorder, label string, in Input, cols int) Input {
	if in.Add == nil && in.Norm == nil {
		return in
	}
	out := in.Add.out()
	if in.Norm != nil {
		out = r.Temp("prepared input", r.Width()*cols)
	}
	prepare(r, label, in, cols, out, nil)
	return Input{X: out, Stride: cols}
}

// spread records what is made of the input, and lays it out as products of few tokens
// with w read it (spread.wgsl), in groups of so many tokens.
func spread(r *record.Recorder, label string, in Input, w *weights.Matrix, tokens int) *wgslkit.Buffer {
	out := r.Temp("spread input", record.CeilDiv(r.Width(), tokens)*tokens*w.Row.Units*16*w.Row.Spans)
	prepare(r, label, in, w.Cols, out, wgslkit.Variant{
		"SPREAD": true, "TOKENS": tokens, "COUNT": w.Row.Units, "SPANS": w.Row.Spans, "STEP": w.Row.Step,
	})
	return out
}

// Prepare makes of the input what several products read, where products of this
// recorder do not do that on their way: those get what it returns.
func Prepare(r *record.Recorder, label string, in Input, cols int) Input {
	onTheirWay := r.Width() == 1 || r.Tuning().LargeMatvec && r.Width() <= record.MostFewTokens
	if r.Err() != nil || onTheirWay && !r.Tuning().SmallKernels {
		return in
	}
	return Prepared(r, label, in, cols)
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

// prepareParams is Params of prepare.wgsl.
type prepareParams struct {
	Cols, XOffset, XStride, Flags        uint32
	AddEps, AddScale, NormEps, NormScale float32
}

// prepare records what is made of the input into out; layout says where there, nil
// row by row.
func prepare(r *record.Recorder, label string, in Input, cols int, out *wgslkit.Buffer, layout wgslkit.Variant) {
	f := in.Factors()
	addX, addW, normW, addOut := InputBuffers(r, in)
	written := in.Norm != nil || layout != nil
	if !written {
		out = r.Temp("unused output", 4)
	}
	v := r.RowVariant(wgslkit.Variant{"ADD": in.Add != nil, "NORM": in.Norm != nil, "OUT": written})
	maps.Copy(v, layout)
	if r.Tuning().MatvecLooped && !r.Tuning().SmallKernels {
		v["THREADS"] = r.Tuning().MatvecThreads
	}
	r.Dispatch(Files, "prepare.wgsl", v, wgslkit.Call{
		Label: label,
		Bind:  record.BindAll(in.X, addX, addW, normW, addOut, out),
		Params: prepareParams{
			uint32(cols), uint32(in.Offset), uint32(record.OrInt(in.Stride, cols)), in.Flags(),
			f.addEps, f.addScale, f.NormEps, f.NormScale,
		},
		Grid: wgslkit.Grid{X: 1, Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}

// InputBuffers are the buffers of in.Add and in.Norm, with something harmless for those that it lacks.
func InputBuffers(r *record.Recorder, in Input) (addX, addW, normW, addOut *wgslkit.Buffer) {
	any := in.X
	if in.Merge != nil {
		any = in.Merge.Buffer
	}
	addX, addW, normW = any, any, any
	if in.Add != nil {
		addX, addW, addOut = in.Add.X, record.OrBuffer(in.Add.Weight, any), in.Add.Out
	} else {
		addOut = r.Temp("unused sum", 4)
	}
	if in.Norm != nil {
		normW = record.OrBuffer(in.Norm.Weight, any)
	}
	return addX, addW, normW, addOut
}

// factors are the numbers of Add and Norm.
type inputFactors struct{ addEps, addScale, NormEps, NormScale float32 }

func (in Input) Factors() inputFactors {
	f := inputFactors{addScale: 1, NormScale: 1}
	if in.Add != nil {
		f.addEps, f.addScale = in.Add.Eps, record.OrOne(in.Add.Scale)
	}
	if in.Norm != nil {
		f.NormEps, f.NormScale = in.Norm.Eps, record.OrOne(in.Norm.Scale)
	}
	return f
}

func (in Input) Flags() uint32 {
	var flags uint32
	if in.Add != nil && in.Add.Weight != nil {
		flags |= flagAddWeighted
	}
	if in.Norm != nil && in.Norm.Weight != nil {
		flags |= flagNormWeighted
	}
	return flags
}
