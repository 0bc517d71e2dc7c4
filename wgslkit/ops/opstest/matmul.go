package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// linearShape is one product with what surrounds it.
type linearShape struct {
	quant         quant.Type
	cols          int
	rows          []int // of each source; of gate and of up where gated
	width, tokens int
	add, norm     bool
	weighted      bool // add's and norm's weights
	gated, mul    bool
	apart         bool // rows of x, mul and out begin at an offset and are further apart than they are long
	act           ops.Activation
	softcap       float32
	splits        int // x is merged from so many
	bounded       bool
	float32s      bool
	ranks         []int   // of what LowRank adds to each part of the rows, nil for none
	lowFirst      int     // what row 0 is among these
	factor        float64 // of the inputs; 0 counts as 1

	// Of derived shapes:
	distinct              int // rows before they repeat, 0 for as usual
	mergeSplits, mergeDim int // of x's partials; 0 for two more than are filled, in heads of 64
}

func (s linearShape) String() string {
	name := fmt.Sprintf("%v_%dx%d_%dof%d", s.quant, s.rows, s.cols, s.tokens, s.width)
	for _, flag := range []struct {
		on   bool
		name string
	}{{s.add, "add"}, {s.norm, "norm"}, {s.weighted, "weighted"}, {s.gated, "gated"}, {s.mul, "mul"},
		{s.apart, "apart"}, {s.softcap != 0, "softcap"}, {s.splits > 0, "merge"}, {s.bounded, "bounded"},
		{s.float32s, "float32"}} {
		if flag.on {
			name += "_" + flag.name
		}
	}
	if s.act != ops.None {
		name += fmt.Sprintf("_act%d", s.act)
	}
	if s.ranks != nil {
		name += fmt.Sprintf("_ranks%d", s.ranks)
	}
	if s.factor != 0 {
		name += fmt.Sprintf("_times%g", s.factor)
	}
	return name
}

func linearShapes(kit *ops.Kit) []linearShape {
	var shapes []linearShape
	for _, row := range quantRows {
		shapes = append(shapes, shapesOfType(row.quant)...)
	}
	shapes = append(shapes, fusedShapes()...)
	shapes = append(shapes, lowRankShapes()...)
	most := kit.Device().Limits().MaxStorageBindingSize
	for _, s := range append(largeShapes(), largeLowRankShapes()...) {
		if s.activations() <= most { // matrices are split over bindings, activations are not
			shapes = append(shapes, s)
		}
	}
	if most > 64<<20 && most <= 128<<20 {
		// A real matrix beyond one binding of the smallest devices.
		shapes = append(shapes, linearShape{quant: quant.F16, cols: 1024, rows: []int{70000}, width: 1, tokens: 1})
	}
	return shapes
}

// shapesOfType runs one type through rows and columns that fit no tile.
func shapesOfType(t quant.Type) []linearShape {
	n := t.BlockLen()
	shapes := []linearShape{
		{quant: t, cols: 3 * n, rows: []int{31}, width: 1, tokens: 1},
		{quant: t, cols: 5 * n, rows: []int{257, 1}, width: 1, tokens: 1},
		{quant: t, cols: max(n, 32) * 40, rows: []int{9}, width: 1, tokens: 1},
		{quant: t, cols: 3 * n, rows: []int{65, 6}, width: 70, tokens: 66},
		{quant: t, cols: max(n, 32), rows: []int{1}, width: 2, tokens: 1},
	}
	for _, tokens := range []int{2, 3, 5, 8} { // a draft's
		width := 4
		if tokens > width {
			width = 8
		}
		shapes = append(shapes, linearShape{quant: t, cols: 3 * n, rows: []int{65, 6}, width: width, tokens: tokens})
	}
	if n == 1 {
		for _, cols := range []int{1, 17, 1000} {
			shapes = append(shapes, linearShape{quant: t, cols: cols, rows: []int{33}, width: 1, tokens: 1})
			shapes = append(shapes, linearShape{quant: t, cols: cols, rows: []int{33}, width: 3, tokens: 3})
		}
	}
	return shapes
}

// fusedShapes runs what may surround a product, in programs of width one and wider.
func fusedShapes() []linearShape {
	base := []linearShape{
		{norm: true},
		{norm: true, weighted: true},
		{add: true},
		{add: true, norm: true, weighted: true},
		{add: true, norm: true, weighted: true, gated: true, act: ops.GELU},
		{add: true, weighted: true, mul: true, act: ops.GELU},
		{norm: true, weighted: true, softcap: 3},
		{gated: true, act: ops.SiLU},
		{apart: true, mul: true, act: ops.SiLU},
		{apart: true, norm: true, weighted: true},
		{bounded: true, norm: true, weighted: true},
		{bounded: true, gated: true, act: ops.SiLU},
		{bounded: true, apart: true, mul: true, act: ops.GELU},
	}
	var shapes []linearShape
	for _, t := range []quant.Type{quant.Q4_K, quant.F16, quant.Q6_K} {
		for _, s := range base {
			s.quant, s.cols = t, 768
			s.rows, s.width, s.tokens = []int{131, 131}, 1, 1
			shapes = append(shapes, s)
			s.width, s.tokens = 9, 7
			shapes = append(shapes, s)
		}
		for _, splits := range []int{1, 5} {
			shapes = append(shapes, linearShape{quant: t, cols: 768, rows: []int{64}, width: 1, tokens: 1,
				splits: splits})
		}
		// More columns than workgroup memory holds on the smallest devices.
		wide := linearShape{quant: t, cols: 8192, rows: []int{17}, width: 1, tokens: 1}
		shapes = append(shapes, wide)
		wide.add, wide.norm, wide.weighted = true, true, true
		shapes = append(shapes, wide)
	}
	// Fewer spans than four to a unit, and lows for four (stage.wgsl).
	for _, t := range []quant.Type{quant.Q4_0, quant.Q5_0} {
		shapes = append(shapes, linearShape{quant: t, cols: 768, rows: []int{131, 131}, width: 1, tokens: 1, add: true,
			norm: true, weighted: true})
	}
	return shapes
}

// largeShapes are of as many rows and tokens as large GPUs take large tiles for.
func largeShapes() []linearShape {
	var shapes []linearShape
	for _, t := range []quant.Type{quant.F16, quant.BF16, quant.F32, quant.Q8_0, quant.Q4_K, quant.Q6_K,
		quant.IQ4_NL, quant.IQ3_S, quant.IQ1_M, quant.NVFP4} {
		shapes = append(shapes, linearShape{quant: t, cols: 256, rows: []int{1500, 40}, width: 260, tokens: 133})
	}
	wide := linearShape{quant: quant.F16, rows: []int{768, 768}, width: 140, tokens: 140}
	for _, cols := range []int{256, 1040} { // the second in splits
		wide.cols = cols
		shapes = append(shapes, wide)
		gated := wide
		gated.gated, gated.act, gated.bounded = true, ops.GELU, true
		shapes = append(shapes, gated)
		multiplied := wide
		multiplied.mul, multiplied.act, multiplied.bounded, multiplied.softcap = true, ops.SiLU, true, 9
		multiplied.norm, multiplied.weighted = true, true
		shapes = append(shapes, multiplied)
	}
	for _, factor := range []float64{1e-9, 1e6} { // inputs that float16 has no numbers for
		wide.factor = factor
		shapes = append(shapes, wide)
	}
	return shapes
}

// activations is the size of the largest buffer of inputs or outputs, in bytes.
func (s linearShape) activations() int64 {
	rows := 0
	for _, n := range s.rows {
		rows += n
	}
	return 4 * int64(s.width) * int64(max(s.cols, rows)+s.slack())
}

func linearCases(kit *ops.Kit) []Case {
	var cases []Case
	for _, s := range linearShapes(kit) {
		cases = append(cases, s.toCase())
	}
	return cases
}

func (s linearShape) toCase() Case {
	return Case{Op: "Linear", Name: s.String(), Tolerance: 5e-6,
		Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, uint64(s.cols))
			r.distinct = s.distinct
			defer r.close()
			return s.run(ctx, r)
		}}
}

// slack is how far rows lie apart and begin where a shape is apart.
const slack = 3

func (s linearShape) slack() int {
	if s.apart {
		return slack
	}
	return 0
}

// spread puts rows of n values, after an offset, further apart.
func (s linearShape) spread(values []float64, n int) []float64 {
	if !s.apart {
		return values
	}
	var out []float64
	for ; len(values) > 0; values = values[n:] {
		out = append(out, math.NaN())
		out = append(out, values[:n]...)
		out = append(out, math.NaN(), math.NaN())
	}
	return out
}

func (s linearShape) run(ctx context.Context, r *rig) (float64, error) {
	var parts []rows
	for _, n := range s.rows {
		parts = append(parts, r.rows(s.quant, n, s.cols, 0))
	}
	layout := ops.Stacked
	if s.gated {
		layout = ops.Paired
	}
	op := ops.Linear{Label: "case", W: r.matrix(ctx, layout, parts...), Gated: s.gated, Act: s.act, Softcap: s.softcap,
		Float32: s.float32s}
	h, sums := s.input(r, &op.In)
	limits := s.bounds(r, layout, &op, h)
	low := s.lowRank(r, &op)

	outputs := s.rows[0]
	if !s.gated {
		outputs = 0
		for _, n := range s.rows {
			outputs += n
		}
	}
	var mul []float64
	if s.mul {
		mul = r.normal(s.tokens * outputs)
		op.Mul = r.upload(s.spread(mul, outputs))
	}
	if s.apart {
		op.In.Offset, op.In.Stride = 1, s.cols+slack
		op.OutOffset, op.OutStride = 1, outputs+slack
		op.MulOffset, op.MulStride = 1, outputs+slack
	}
	if s.softcap != 0 && !r.rehearses {
		whole := s
		whole.softcap = 0
		s.softcap = capFor(whole.twin(parts, h, mul, outputs, limits, low))
		op.Softcap = s.softcap
	}
	op.Out = r.floats(s.tokens * (outputs + s.slack()))
	halves := false
	prepared := r.upload(h)
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		o := op
		if halves = rec.ThroughFloat16(o); halves && o.In.Norm != nil {
			o.In = rec.Prepare("case", o.In, s.cols)
			rec.Copy(ops.Copy{In: o.In.X, Out: prepared, Size: len(h)})
		}
		rec.Linear(o)
	})
	if halves {
		// A norm that is off by a rounding is off by one of float16 where it turns over
		// there: the twin begins with the one that was computed.
		parts, h = r.halfWeights(parts), r.halfInputs(held(op.Bounds, r.read(prepared, len(h))), s.cols)
	}

	got := s.outputs(r.read(op.Out, s.tokens*(outputs+s.slack())), outputs)
	want := s.twin(parts, h, mul, outputs, limits, low)
	if s.add {
		got = append(got, r.read(op.In.Add.Out, len(sums))...)
		want = append(want, sums...)
	}
	return r.compare(got, want)
}

// capFor is a cap in the middle of the values: one far below them would leave little of them
// but signs, and make much of how those near zero were rounded.
func capFor(values []float64) float32 {
	var squares float64
	for _, v := range values {
		squares += v * v
	}
	return float32(math.Sqrt(squares / float64(len(values))))
}

// outputs takes the values out from between the slack.
func (s linearShape) outputs(values []float64, n int) []float64 {
	if !s.apart {
		return values
	}
	var out []float64
	for ; len(values) > 0; values = values[n+slack:] {
		out = append(out, values[1:1+n]...)
	}
	return out
}

// input makes the op's input; h is what is multiplied, sums what Add leaves.
func (s linearShape) input(r *rig, in *ops.Input) (h, sums []float64) {
	if s.splits > 0 {
		return s.partials(r, in), nil
	}
	x := r.normal(s.tokens * s.cols)
	if s.factor != 0 {
		for i, v := range x {
			x[i] = float64(float32(s.factor * v))
		}
	}
	in.X = r.upload(s.spread(x, s.cols))
	if s.add {
		a := r.normal(s.tokens * s.cols)
		w, buffer := r.weight(s.weighted, s.cols)
		in.Add = &ops.Residual{X: r.upload(a), Weight: buffer, Eps: normEps, Scale: 0.75, Out: r.floats(len(x))}
		for t := range s.tokens {
			row := rms(a[t*s.cols:(t+1)*s.cols], w, normEps)
			for i := range row {
				x[t*s.cols+i] = (x[t*s.cols+i] + row[i]) * 0.75
			}
		}
		sums = x
	}
	if !s.norm {
		return x, sums
	}
	w, buffer := r.weight(s.weighted, s.cols)
	in.Norm = &ops.Norm{Weight: buffer, Eps: normEps, Scale: 1.5}
	for t := range s.tokens {
		h = append(h, scaled(rms(x[t*s.cols:(t+1)*s.cols], w, normEps), 1.5)...)
	}
	return h, sums
}

// twin is the product in plain loops.
func (s linearShape) twin(parts []rows, h, mul []float64, outputs int, limits []rowLimits,
	low func(t, i int) float64) []float64 {
	var out []float64
	dots := make([][]float64, len(parts))
	for t := range s.tokens {
		for i, p := range parts {
			dots[i] = p.dots(h[t*s.cols : (t+1)*s.cols])
		}
		for row := range outputs {
			v := activate(s.act, stacked(parts, limits, row, dots)+low(t, row))
			if s.gated {
				v *= limits[1].of(row, dots[1][row%len(dots[1])]) + low(t, outputs+row)
			}
			if s.mul {
				v *= mul[t*outputs+row]
			}
			if c := float64(s.softcap); c != 0 {
				v = c * math.Tanh(v/c)
			}
			out = append(out, v)
		}
	}
	return out
}

// stacked is row i of all parts, one after another, times x, of which dots are the parts'.
func stacked(parts []rows, limits []rowLimits, i int, dots [][]float64) float64 {
	for n, p := range parts {
		if i < p.source.Rows {
			return limits[n].of(i, dots[n][i%len(dots[n])])
		}
		i -= p.source.Rows
	}
	return math.NaN()
}

func activate(act ops.Activation, x float64) float64 {
	switch act {
	case ops.GELU:
		return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	case ops.SiLU:
		return x / (1 + math.Exp(-x))
	}
	return x
}

// partials makes split attention results as ops.Partials describes them, in
// heads of 64 values, and returns what they merge to.
func (s linearShape) partials(r *rig, in *ops.Input) []float64 {
	headDim, splits := 64, s.splits+2 // not all filled
	if s.mergeSplits > 0 {
		headDim, splits = s.mergeDim, s.mergeSplits
	}
	heads := s.cols / headDim
	o := (4 + 2*heads*splits + 3) / 4 * 4
	raw := make([]float64, o+heads*splits*headDim)
	raw[0] = float64(s.splits)
	merged := make([]float64, s.cols)
	for h := range heads {
		var total float64
		for split := range s.splits {
			cell := h*splits + split
			m, l := float64(float32(r.random.NormFloat64())), float64(float32(1+r.random.Float64()))
			raw[4+2*cell], raw[5+2*cell] = m, l
			total += math.Exp(m) * l
			for d := range headDim {
				v := float64(float32(r.random.NormFloat64()))
				raw[o+cell*headDim+d] = v
				merged[h*headDim+d] += math.Exp(m) * v
			}
		}
		for d := range headDim {
			merged[h*headDim+d] /= total
		}
	}
	in.Merge = &ops.Partials{Buffer: r.upload(raw), Splits: splits, Heads: heads, HeadDim: headDim}
	return merged
}
