package cpu

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/quant"
)

// rows are the keys, or the values, of a layer's slots: as float32, or as blocks
// of quant.Q8_0, where each head begins one and its last is padded with zeros.
type rows struct {
	typ            quant.Type
	heads, headDim int
	floats         []float32 // [slots, heads, headDim]
	blocks         []byte    // [slots, heads, headBytes]
}

// checkCacheType refuses what rows cannot be kept as.
func checkCacheType(t quant.Type) error {
	if t != quant.F32 && t != quant.Q8_0 {
		return fmt.Errorf("a cache of type %v; there are F32 and Q8_0: %w", t, ErrInput)
	}
	return nil
}

// CacheBytes is the memory of a position's keys and values in a layer whose cache
// is of a type: quant.F32 or quant.Q8_0.
func CacheBytes(t quant.Type, kvHeads, headDim int) int64 {
	r := rows{typ: t, heads: kvHeads, headDim: headDim}
	return 2 * int64(kvHeads) * int64(r.headBytes())
}

// padded is a head's values in whole blocks.
func (r *rows) padded() int {
	n := r.typ.BlockLen()
	return (r.headDim + n - 1) / n * n
}

func (r *rows) headBytes() int { return r.padded() / r.typ.BlockLen() * r.typ.BlockBytes() }

// slots is how many there is memory for.
func (r *rows) slots() int {
	if r.typ == quant.F32 {
		return len(r.floats) / (r.heads * r.headDim)
	}
	return len(r.blocks) / (r.heads * r.headBytes())
}

func (r *rows) bytes() int64 { return int64(len(r.floats))*4 + int64(len(r.blocks)) }

func (r *rows) clone() rows {
	c := *r
	c.floats, c.blocks = slices.Clone(r.floats), slices.Clone(r.blocks)
	return c
}

// copyFrom makes r hold what other does, in the memory that it has.
func (r *rows) copyFrom(other *rows) {
	r.floats = append(r.floats[:0], other.floats...)
	r.blocks = append(r.blocks[:0], other.blocks...)
}

// empty is rows of the same kind without memory.
func (r *rows) empty() rows { return rows{typ: r.typ, heads: r.heads, headDim: r.headDim} }

// grow makes memory for n slots.
func (r *rows) grow(n int) {
	if r.typ == quant.F32 {
		r.floats = grown(r.floats, n*r.heads*r.headDim)
	} else {
		r.blocks = grown(r.blocks, n*r.heads*r.headBytes())
	}
}

func grown[T any](s []T, n int) []T { return append(make([]T, 0, n), s...)[:n] }

// put writes a slot's values, [heads, headDim].
func (r *rows) put(slot int, values []float32) {
	if r.typ == quant.F32 {
		copy(r.floats[slot*len(values):(slot+1)*len(values)], values)
		return
	}
	padded, size := make([]float32, r.padded()), r.headBytes()
	for h := range r.heads {
		copy(padded, values[h*r.headDim:(h+1)*r.headDim])
		at := (slot*r.heads + h) * size
		must(r.typ.Quantize(r.blocks[at:at+size], padded))
	}
}

// must is for blocks of our own, which are as many as their values want.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// take appends a slot's values to out.
func (r *rows) take(out []float32, slot int) []float32 {
	for h := range r.heads {
		values, _ := r.read(nil, h, slot, 1)
		out = append(out, values[:r.headDim]...)
	}
	return out
}

// read returns a head's values in n slots from one on, which lie stride apart:
// those in memory, or decoded ones in scratch, which it may replace.
func (r *rows) read(scratch []float32, head, slot, n int) (values []float32, stride int) {
	if r.typ == quant.F32 {
		stride = r.heads * r.headDim
		return r.floats[slot*stride+head*r.headDim:], stride
	}
	stride = r.padded()
	values = slices.Grow(scratch[:0], n*stride)[:n*stride]
	size := r.headBytes()
	for i := range n {
		at := ((slot+i)*r.heads + head) * size
		must(kernel.Best.Decode(values[i*stride:(i+1)*stride], r.typ, r.blocks[at:at+size]))
	}
	return values, stride
}
