package kvcache

import (
	"fmt"
	"math"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// CacheShape is the size of a layer's KVCache, and what its values are kept as.
type CacheShape struct {
	Slots, KVHeads, HeadDim int
	// Type is quant.F16, or quant.Q8_0 for 8 bits, with a float16 scale for each
	// 32 values of a head.
	Type quant.Type
	// Streams is how many texts the cache holds, each of Slots positions; 0 for one. Those
	// that hold several are of programs whose state says which of them is meant.
	Streams int
}

// streams is how many texts there are.
func (s CacheShape) streams() int { return max(s.Streams, 1) }

// Stream is the bytes of one kv head's keys, or of its values, of one text, and which of
// those of a part's buffer they are.
func (s CacheShape) Stream(head, stream int) (offset, size int64) {
	size = s.headBytes()
	return int64(head*s.streams()+stream) * size, size
}

// mostStreams bounds CacheShape.Streams.
const mostStreams = 1 << 16

// MaxHeadDim is how long a head's row may be: what the kernels keep of it in
// workgroup memory fits the 16 KiB that every device has.
const MaxHeadDim = 512

func (s CacheShape) check(label string) error {
	switch {
	case s.Slots < 1 || s.KVHeads < 1 || s.Slots > math.MaxInt32 || s.KVHeads > 1<<16:
		return fmt.Errorf("%w: %s: a cache of %d positions and %d heads", wgslkit.ErrValidation, label, s.Slots,
			s.KVHeads)
	case s.Streams < 0 || s.Streams > mostStreams:
		return fmt.Errorf("%w: %s: a cache of %d texts", wgslkit.ErrValidation, label, s.Streams)
	case s.HeadDim < 2 || s.HeadDim%2 != 0:
		return fmt.Errorf("%w: %s: head dimension %d, wanted an even number", wgslkit.ErrValidation, label, s.HeadDim)
	case s.HeadDim > MaxHeadDim:
		return fmt.Errorf("%w: %s: head dimension %d, at most %d", wgslkit.ErrLimit, label, s.HeadDim, MaxHeadDim)
	case s.Type != quant.F16 && s.Type != quant.Q8_0:
		return fmt.Errorf("%w: %s: a cache of type %v; there are F16 and Q8_0", wgslkit.ErrValidation, label, s.Type)
	}
	return nil
}

// The parts of a row, as cell.wgsl draws them.
const (
	cellValues   = 8   // of a cell
	scaledValues = 128 // whose scales are one cell
)

// rowCells and cellBytes are what a kv head's keys, or values, of a position take
// in the cache.
func (s CacheShape) rowCells() int {
	if s.Type == quant.Q8_0 {
		return record.CeilDiv(s.HeadDim, cellValues) + record.CeilDiv(s.HeadDim, scaledValues)
	}
	return record.CeilDiv(s.HeadDim, cellValues)
}

func (s CacheShape) cellBytes() int {
	if s.Type == quant.Q8_0 {
		return cellValues
	}
	return 2 * cellValues
}

// headBytes is the size of one kv head's keys, or of its values.
func (s CacheShape) headBytes() int64 {
	return int64(s.Slots) * int64(s.rowCells()*s.cellBytes())
}

// Bytes is the GPU size of a cache, for plans made before it exists.
func (s CacheShape) Bytes() int64 { return 2 * int64(s.KVHeads*s.streams()) * s.headBytes() }

// RowBytes is the size of one kv head's keys, or values, of a position in the
// layout of KVCache.Read: halves, or cells with their scales.
func (s CacheShape) RowBytes() int {
	if s.Type == quant.Q8_0 {
		return s.rowCells() * s.cellBytes()
	}
	return 2 * s.HeadDim
}

// PositionBytes is the size of one position in the layout of KVCache.Read.
func (s CacheShape) PositionBytes() int { return 2 * s.KVHeads * s.RowBytes() }

// Into adds what kernels have to know of the type. What they are by default has
// no name.
func (s CacheShape) Into(v wgslkit.Variant) wgslkit.Variant {
	if s.Type != quant.Q8_0 && s.Streams == 0 {
		return v
	}
	if v == nil {
		v = wgslkit.Variant{}
	}
	if s.Type == quant.Q8_0 {
		v["CACHE"] = "q8"
	}
	if s.Streams > 0 {
		v["STREAMS"] = true
	}
	return v
}

// Encode turns rows of HeadDim values into rows of RowBytes, of which dst has
// as many.
func (s CacheShape) Encode(dst []byte, values []float32) error {
	return s.eachRow(dst, values, func(row []byte, values []float32) error {
		if s.Type != quant.Q8_0 {
			return s.Type.Quantize(row, values)
		}
		return encodeQ8(row, values)
	})
}

// Decode is the way back.
func (s CacheShape) Decode(values []float32, src []byte) error {
	return s.eachRow(src, values, func(row []byte, values []float32) error {
		if s.Type != quant.Q8_0 {
			return s.Type.Dequantize(values, row)
		}
		return decodeQ8(values, row)
	})
}

func (s CacheShape) eachRow(raw []byte, values []float32, each func(row []byte, values []float32) error) error {
	size, n := s.RowBytes(), len(values)/s.HeadDim
	if len(values) != n*s.HeadDim || len(raw) != n*size {
		return fmt.Errorf("%w: %d values in %d bytes; rows of a cache are %d values in %d bytes",
			wgslkit.ErrValidation, len(values), len(raw), s.HeadDim, size)
	}
	for i := range n {
		if err := each(raw[i*size:(i+1)*size], values[i*s.HeadDim:(i+1)*s.HeadDim]); err != nil {
			return err
		}
	}
	return nil
}

// A block of quant.Q8_0: d, then q.
const (
	q8Values = 32
	q8Scale  = 2 // bytes
)

// encodeQ8 moves the parts of Q8_0's blocks to where a row has them.
func encodeQ8(row []byte, values []float32) error {
	clear(row)
	scales := row[record.CeilDiv(len(values), cellValues)*cellValues:]
	var block [q8Scale + q8Values]byte
	for i := 0; i < len(values); i += q8Values {
		var padded [q8Values]float32
		n := copy(padded[:], values[i:])
		if err := quant.Q8_0.Quantize(block[:], padded[:]); err != nil {
			return err
		}
		copy(row[i:i+n], block[q8Scale:])
		copy(scales[i/q8Values*q8Scale:], block[:q8Scale])
	}
	return nil
}

func decodeQ8(values []float32, row []byte) error {
	scales := row[record.CeilDiv(len(values), cellValues)*cellValues:]
	var block [q8Scale + q8Values]byte
	for i := 0; i < len(values); i += q8Values {
		var padded [q8Values]float32
		n := min(q8Values, len(values)-i)
		copy(block[:], scales[i/q8Values*q8Scale:][:q8Scale])
		copy(block[q8Scale:], row[i:i+n])
		clear(block[q8Scale+n:])
		if err := quant.Q8_0.Dequantize(padded[:], block[:]); err != nil {
			return err
		}
		copy(values[i:i+n], padded[:])
	}
	return nil
}

// PaddedDim is a head's row in whole vectors of 8, as caches keep it.
func PaddedDim(headDim int) int { return (headDim + 7) / 8 * 8 }
