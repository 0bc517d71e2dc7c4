package kernel

import (
	"fmt"

	"golang.org/x/sys/cpu"

	"github.com/gemwire/gemwire/quant"
)

//go:generate go -C ../../../tools/lab run ./internal/cpukernels

func best() Set {
	sets := simdSets()
	if len(sets) == 0 {
		return Plain{}
	}
	return sets[len(sets)-1]
}

// simdSets are those that the processor has the instructions for, the fastest last.
func simdSets() (sets []Set) {
	x := cpu.X86
	if !(x.HasAVX2 && x.HasFMA && hasF16C()) {
		return nil
	}
	sets = append(sets, &SIMD{name: "AVX2", formats: avx2Formats, products: &avx2})
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512DQ {
		sets = append(sets, &SIMD{name: "AVX-512", formats: avx512Formats, products: &avx512})
	}
	return sets
}

// SIMD is the set in AVX2 or AVX-512. Every dot product of it has 16 lanes of sums and
// an end that does not fill them, added in order, so that the same weights and
// values come to the same bits wherever they lie, however many there are, and in
// either set.
type SIMD struct {
	Plain // for what is no hot loop
	name  string
	formats
	*products
}

// formats are kernels by type; those without are decoded by quant.
type formats [quant.NVFP4 + 1]format

// format is what there is for blocks of a type: the product of four rows, or one,
// with a vector, and their values.
type format struct {
	len       int // values of a block, or 16 of those that have no blocks
	rows, row func(y *float32, w *byte, rowBytes int, x *float32, blocks int)
	decode    func(dst *float32, src *byte, blocks int)
}

// products are kernels of float32.
type products struct {
	tileRows, tileTokens int
	tile                 tile
	column, one          tile // of four rows with one vector, and of one
	weighted64           weightedSum
	weighted16           weightedSum
}

type (
	tile        func(y *float32, yStride int, w *float32, wStride int, x *float32, xStride int, chunks int)
	weightedSum func(y *float32, p *float32, v *float32, vStride int, n int)
)

var avx2Formats = formats{
	quant.Q4_0: {32, rows4Q40AVX2, rows1Q40AVX2, decodeQ40AVX2},
	quant.Q8_0: {32, rows4Q80AVX2, rows1Q80AVX2, decodeQ80AVX2},
	quant.Q4_K: {256, rows4Q4KAVX2, rows1Q4KAVX2, decodeQ4KAVX2},
	quant.Q5_K: {256, rows4Q5KAVX2, rows1Q5KAVX2, decodeQ5KAVX2},
	quant.Q6_K: {256, rows4Q6KAVX2, rows1Q6KAVX2, decodeQ6KAVX2},
	quant.F16:  {16, rows4F16AVX2, rows1F16AVX2, decodeF16AVX2},
	quant.BF16: {16, rows4BF16AVX2, rows1BF16AVX2, decodeBF16AVX2},

	quant.Q4_1:   {32, rows4Q41AVX2, rows1Q41AVX2, decodeQ41AVX2},
	quant.Q5_0:   {32, rows4Q50AVX2, rows1Q50AVX2, decodeQ50AVX2},
	quant.Q5_1:   {32, rows4Q51AVX2, rows1Q51AVX2, decodeQ51AVX2},
	quant.Q2_K:   {256, rows4Q2KAVX2, rows1Q2KAVX2, decodeQ2KAVX2},
	quant.Q3_K:   {256, rows4Q3KAVX2, rows1Q3KAVX2, decodeQ3KAVX2},
	quant.IQ4_NL: {32, rows4IQ4NLAVX2, rows1IQ4NLAVX2, decodeIQ4NLAVX2},
	quant.IQ4_XS: {256, rows4IQ4XSAVX2, rows1IQ4XSAVX2, decodeIQ4XSAVX2},
	quant.TQ2_0:  {256, rows4TQ20AVX2, rows1TQ20AVX2, decodeTQ20AVX2},
	quant.MXFP4:  {32, rows4MXFP4AVX2, rows1MXFP4AVX2, decodeMXFP4AVX2},
	quant.NVFP4:  {64, rows4NVFP4AVX2, rows1NVFP4AVX2, decodeNVFP4AVX2},
}

var avx512Formats = formats{
	quant.Q4_0: {32, rows4Q40AVX512, rows1Q40AVX512, decodeQ40AVX512},
	quant.Q8_0: {32, rows4Q80AVX512, rows1Q80AVX512, decodeQ80AVX512},
	quant.Q4_K: {256, rows4Q4KAVX512, rows1Q4KAVX512, decodeQ4KAVX512},
	quant.Q5_K: {256, rows4Q5KAVX512, rows1Q5KAVX512, decodeQ5KAVX512},
	quant.Q6_K: {256, rows4Q6KAVX512, rows1Q6KAVX512, decodeQ6KAVX512},
	quant.F16:  {16, rows4F16AVX512, rows1F16AVX512, decodeF16AVX512},
	quant.BF16: {16, rows4BF16AVX512, rows1BF16AVX512, decodeBF16AVX512},

	quant.Q4_1:   {32, rows4Q41AVX512, rows1Q41AVX512, decodeQ41AVX512},
	quant.Q5_0:   {32, rows4Q50AVX512, rows1Q50AVX512, decodeQ50AVX512},
	quant.Q5_1:   {32, rows4Q51AVX512, rows1Q51AVX512, decodeQ51AVX512},
	quant.Q2_K:   {256, rows4Q2KAVX512, rows1Q2KAVX512, decodeQ2KAVX512},
	quant.Q3_K:   {256, rows4Q3KAVX512, rows1Q3KAVX512, decodeQ3KAVX512},
	quant.IQ4_NL: {32, rows4IQ4NLAVX512, rows1IQ4NLAVX512, decodeIQ4NLAVX512},
	quant.IQ4_XS: {256, rows4IQ4XSAVX512, rows1IQ4XSAVX512, decodeIQ4XSAVX512},
	quant.TQ2_0:  {256, rows4TQ20AVX512, rows1TQ20AVX512, decodeTQ20AVX512},
	quant.MXFP4:  {32, rows4MXFP4AVX512, rows1MXFP4AVX512, decodeMXFP4AVX512},
	quant.NVFP4:  {64, rows4NVFP4AVX512, rows1NVFP4AVX512, decodeNVFP4AVX512},
}

var (
	avx2 = products{2, 3, tile2x3AVX2, tile4x1AVX2, tile1x1AVX2, weightedSum64AVX2, weightedSum16AVX2}

	avx512 = products{4, 4, tile4x4AVX512, tile4x1AVX512, tile1x1AVX512, weightedSum64AVX512, weightedSum16AVX512}
)

// lanes is how many sums a dot product is kept in.
const lanes = 16

func (s *SIMD) String() string { return s.name }

// shape panics unless n values are so many vectors of a length.
func shape(what string, n, vectors, length int) {
	if n != vectors*length {
		panic(fmt.Sprintf("kernel: %s has %d values, not %d times %d", what, n, vectors, length))
	}
}

// Dot implements Set.
func (s *SIMD) Dot(a, b []float32) float32 {
	b = b[:len(a)]
	var sum [1]float32
	if chunks := len(a) / lanes; chunks > 0 {
		// By name, so that the sum stays where it is.
		if s.products == &avx512 {
			tile1x1AVX512(&sum[0], 0, &a[0], 0, &b[0], 0, chunks)
		} else {
			tile1x1AVX2(&sum[0], 0, &a[0], 0, &b[0], 0, chunks)
		}
	}
	return addRest(sum[0], a, b)
}

// addRest adds the products behind the last whole 16 to a sum.
func addRest(sum float32, w, x []float32) float32 {
	for i := len(w) &^ (lanes - 1); i < len(w); i++ {
		sum += float32(w[i] * x[i])
	}
	return sum
}

// Axpy implements Set.
func (s *SIMD) Axpy(alpha float32, x, y []float32) {
	s.WeightedSum(y[:len(x)], []float32{alpha}, x, 0)
}

// operands are rows of weights and vectors that lie so many values apart, and
// where their products go.
type operands struct {
	y            []float32
	stride       int
	w            []float32
	wStride      int
	x            []float32
	cols         int // of either
	rows, tokens int
}

// run computes a tile: row r and the rows behind it with vector t and those behind.
func (o *operands) run(f tile, r, t, rows, tokens int) {
	w, x, y := o.w[r*o.wStride:], o.x[t*o.cols:], o.y[t*o.stride+r:]
	_, _ = w[(rows-1)*o.wStride+o.cols-1], x[tokens*o.cols-1]
	_ = y[(tokens-1)*o.stride+rows-1]
	if chunks := o.cols / lanes; chunks > 0 {
		f(&y[0], 4*o.stride, &w[0], 4*o.wStride, &x[0], 4*o.cols, chunks)
	}
	if o.cols%lanes == 0 {
		return
	}
	for t := range tokens {
		for r := range rows {
			sum := &y[t*o.stride+r]
			if o.cols < lanes {
				*sum = 0
			}
			*sum = addRest(*sum, w[r*o.wStride:][:o.cols], x[t*o.cols:][:o.cols])
		}
	}
}

// columns computes the products of all rows with the vectors from t on, one by one.
func (s *SIMD) columns(o *operands, t int) {
	for ; t < o.tokens; t++ {
		r := 0
		for ; r+4 <= o.rows; r += 4 {
			o.run(s.column, r, t, 4, 1)
		}
		for ; r < o.rows; r++ {
			o.run(s.one, r, t, 1, 1)
		}
	}
}

// Mul implements Set.
func (s *SIMD) Mul(y []float32, stride int, w, x []float32, cols int) {
	rows, tokens := len(w)/cols, len(x)/cols
	shape("w", len(w), rows, cols)
	shape("x", len(x), tokens, cols)
	for r := 0; r < rows; r += rowsPerPass {
		n := min(rowsPerPass, rows-r)
		s.pass(&operands{y[r:], stride, w[r*cols : (r+n)*cols], cols, x, cols, n, tokens})
	}
}

// pass is Mul for few enough rows that they stay in the cache.
func (s *SIMD) pass(o *operands) {
	t := 0
	for ; t+s.tileTokens <= o.tokens; t += s.tileTokens {
		r := 0
		for ; r+s.tileRows <= o.rows; r += s.tileRows {
			o.run(s.tile, r, t, s.tileRows, s.tileTokens)
		}
		for ; r < o.rows; r++ {
			for i := range s.tileTokens {
				o.run(s.one, r, t+i, 1, 1)
			}
		}
	}
	s.columns(o, t)
}

// Scores implements Set.
func (s *SIMD) Scores(y, q, k []float32, stride int) {
	if len(q) == 0 {
		clear(y)
		return
	}
	s.columns(&operands{y: y, w: k, wStride: stride, x: q, cols: len(q), rows: len(y), tokens: 1}, 0)
}

// Fused implements Set.
func (s *SIMD) Fused(t quant.Type) bool { return s.format(t).len != 0 }

func (s *SIMD) format(t quant.Type) format {
	if int64(t) < int64(len(s.formats)) {
		return s.formats[t]
	}
	return format{}
}

// MulRows implements Set.
func (s *SIMD) MulRows(y []float32, t quant.Type, w []byte, x []float32) {
	if len(y) == 0 {
		return
	}
	rowBytes := len(w) / len(y)
	f := s.format(t)
	if f.len == 0 || len(x) == 0 || len(x)%f.len != 0 {
		s.mulDecoded(y, t, w, x)
		return
	}
	size, err := t.Size(int64(len(x)))
	if err != nil {
		panic(err)
	}
	shape("w", len(w), len(y), int(size))
	r, blocks := 0, len(x)/f.len
	for ; r+4 <= len(y); r += 4 {
		f.rows(&y[r], &w[r*rowBytes], rowBytes, &x[0], blocks)
	}
	for ; r < len(y); r++ {
		f.row(&y[r], &w[r*rowBytes], rowBytes, &x[0], blocks)
	}
}

// mulDecoded is MulRows, for one row at a time that is decoded first.
func (s *SIMD) mulDecoded(y []float32, t quant.Type, w []byte, x []float32) {
	row, rowBytes := make([]float32, len(x)), len(w)/len(y)
	for r := range y {
		if err := s.Decode(row, t, w[r*rowBytes:(r+1)*rowBytes]); err != nil {
			panic(err)
		}
		y[r] = s.Dot(row, x)
	}
}

// Decode implements Set.
func (s *SIMD) Decode(dst []float32, t quant.Type, src []byte) error {
	f := s.format(t)
	size, err := t.Size(int64(len(dst)))
	if err != nil || size != int64(len(src)) || f.len == 0 {
		return t.Dequantize(dst, src)
	}
	blocks := len(dst) / f.len
	if blocks > 0 {
		f.decode(&dst[0], &src[0], blocks)
	}
	done := blocks * f.len
	return t.Dequantize(dst[done:], src[done/t.BlockLen()*t.BlockBytes():])
}

// WeightedSum implements Set.
func (s *SIMD) WeightedSum(y, p, v []float32, stride int) {
	if len(p) == 0 || len(y) == 0 {
		return
	}
	_ = v[(len(p)-1)*stride+len(y)-1]
	i := 0
	for ; i+4*lanes <= len(y); i += 4 * lanes {
		s.weighted64(&y[i], &p[0], &v[i], 4*stride, len(p))
	}
	for ; i+lanes <= len(y); i += lanes {
		s.weighted16(&y[i], &p[0], &v[i], 4*stride, len(p))
	}
	for ; i < len(y); i++ {
		for j, weight := range p {
			y[i] += float32(weight * v[j*stride+i])
		}
	}
}

// GatedGelu implements Set.
func (s *SIMD) GatedGelu(gate, up []float32) {
	const width = 8
	up = up[:len(gate)]
	if n := len(gate) / width; n > 0 {
		gatedGeluAVX2(&gate[0], &up[0], n)
	}
	if rest := len(gate) &^ (width - 1); rest < len(gate) {
		var g, u [width]float32
		copy(g[:], gate[rest:])
		copy(u[:], up[rest:])
		gatedGeluAVX2(&g[0], &u[0], 1)
		copy(gate[rest:], g[:])
	}
}
