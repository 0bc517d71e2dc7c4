package opstest

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// quantRow is a type that matrices can have. Its random blocks are any bytes,
// but for the numbers that scale them.
type quantRow struct {
	quant quant.Type
	// halves are the offsets of a block's float16 scales.
	halves []int
	// single says that the block begins with a float32.
	single bool
}

// quantRows has a row for each type that ops can read.
var quantRows = []quantRow{
	{quant.F32, nil, true}, {quant.F16, []int{0}, false}, {quant.BF16, nil, false},
	{quant.Q4_0, []int{0}, false}, {quant.Q4_1, []int{0, 2}, false}, {quant.Q5_0, []int{0}, false},
	{quant.Q5_1, []int{0, 2}, false},
	{quant.Q8_0, []int{0}, false}, {quant.Q2_K, []int{80, 82}, false}, {quant.Q3_K, []int{108}, false},
	{quant.Q4_K, []int{0, 2}, false},
	{quant.Q5_K, []int{0, 2}, false}, {quant.Q6_K, []int{208}, false}, {quant.Q8_K, nil, true},
	{quant.IQ4_NL, []int{0}, false}, {quant.IQ4_XS, []int{0}, false}, {quant.IQ3_S, []int{0}, false},
	{quant.IQ3_XXS, []int{0}, false}, {quant.IQ2_S, []int{0}, false}, {quant.IQ2_XS, []int{0}, false},
	{quant.IQ2_XXS, []int{0}, false}, {quant.IQ1_S, []int{0}, false}, {quant.IQ1_M, nil, false},
	{quant.TQ1_0, []int{52}, false}, {quant.TQ2_0, []int{64}, false}, {quant.MXFP4, nil, false},
	{quant.NVFP4, nil, false},
}

func quantRowOf(t quant.Type) quantRow {
	for _, row := range quantRows {
		if row.quant == t {
			return row
		}
	}
	return quantRow{quant: t}
}

// block fills one block with random bytes and sane scales.
func (r *rig) block(dst []byte, row quantRow) {
	for i := range dst {
		dst[i] = byte(r.random.Uint32())
	}
	for _, at := range row.halves {
		binary.LittleEndian.PutUint16(dst[at:], r.half())
	}
	if row.single {
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(r.random.NormFloat64())))
	}
	if row.quant == quant.BF16 {
		binary.LittleEndian.PutUint16(dst, uint16(math.Float32bits(float32(r.random.NormFloat64()))>>16))
	}
	if row.quant == quant.MXFP4 {
		dst[0] = byte(121 + r.random.IntN(7)) // 2⁻⁶ to 1
	}
	if row.quant == quant.IQ1_M { // the scale is in the top bits of four numbers
		for i, d := 0, r.half(); i < 4; i, d = i+1, d>>4 {
			dst[49+2*i] = dst[49+2*i]&15 | byte(d&15)<<4
		}
	}
}

// half is a float16 of either sign between 2⁻⁶ and 2.
func (r *rig) half() uint16 {
	exponent := 9 + r.random.IntN(7)
	return uint16(r.random.IntN(2)<<15 | exponent<<10 | r.random.IntN(1<<10))
}

// rows is random weights of one type, and what they stand for.
type rows struct {
	source ops.Source
	values []float64 // [distinct rows, Cols]
}

// distinctRows is how many rows are made before they repeat.
const distinctRows = 1500

// endless is bytes over and over.
type endless []byte

func (e endless) ReadAt(p []byte, offset int64) (int, error) {
	for n := 0; n < len(p); {
		n += copy(p[n:], e[(offset+int64(n))%int64(len(e)):])
	}
	return len(p), nil
}

func (r *rig) rows(t quant.Type, n, cols, experts int) rows {
	row := quantRowOf(t)
	distinct := min(n, distinctRows)
	if r.distinct > 0 {
		distinct = min(n, r.distinct)
	}
	raw := make([]byte, distinct*cols/t.BlockLen()*t.BlockBytes())
	out := rows{source: ops.Source{Name: t.String(), Type: t, Rows: n, Cols: cols, Experts: experts,
		Data: endless(raw)}}
	if r.rehearses {
		out.values = make([]float64, distinct*cols)
		return out
	}
	for at := 0; at < len(raw); at += t.BlockBytes() {
		r.block(raw[at:at+t.BlockBytes()], row)
	}
	single := make([]float32, distinct*cols)
	r.keep(t.Dequantize(single, raw))
	out.values = make([]float64, len(single))
	for i, v := range single {
		out.values[i] = float64(v)
	}
	return out
}

// row is row i, where rows repeat the one that it is like.
func (w rows) row(i int) []float64 {
	i %= len(w.values) / w.source.Cols
	return w.values[i*w.source.Cols : (i+1)*w.source.Cols]
}

// dot is row i times x.
func (w rows) dot(i int, x []float64) float64 {
	var sum float64
	i %= len(w.values) / w.source.Cols
	for c, v := range w.values[i*w.source.Cols : (i+1)*w.source.Cols] {
		sum += v * x[c]
	}
	return sum
}

// dots are all distinct rows times x: row i's is that of i mod len.
func (w rows) dots(x []float64) []float64 {
	out := make([]float64, len(w.values)/w.source.Cols)
	for i := range out {
		out[i] = w.dot(i, x)
	}
	return out
}

// matrix uploads the sources as one matrix.
func (r *rig) matrix(ctx context.Context, layout ops.Layout, parts ...rows) *ops.Matrix {
	var sources []ops.Source
	for _, p := range parts {
		sources = append(sources, p.source)
	}
	m, err := r.kit.Upload(ctx, "case", layout, sources, nil)
	r.keep(err)
	r.release = append(r.release, m.Release)
	return m
}
