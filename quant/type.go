package quant

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Type is a ggml tensor type, with ggml's number for it, as it stands in a GGUF file.
type Type uint32

// The types that this package reads. Others have a name (see [Type.String]) and nothing more.
const (
	F32  Type = 0
	F16  Type = 1
	Q4_0 Type = 2
	Q4_1 Type = 3
	Q5_0 Type = 6
	Q5_1 Type = 7
	Q8_0 Type = 8
	Q2_K Type = 10
	Q3_K Type = 11
	Q4_K Type = 12
	Q5_K Type = 13
	Q6_K Type = 14
	Q8_K Type = 15
	BF16 Type = 30
)

var (
	// ErrUnsupported is wrapped by errors about a type, or a direction of a type, that this package does not have.
	ErrUnsupported = errors.New("unsupported tensor type")
	// ErrLength is wrapped by errors about lengths that are no whole blocks, or that do not belong together.
	ErrLength = errors.New("length does not fit the tensor type")
	// ErrRange is wrapped by errors about values that a block cannot hold: NaN, infinities and magnitudes beyond its scale.
	ErrRange = errors.New("value cannot be held by the tensor type")
)

// String returns ggml's name of the type, such as "Q4_K", or "Type(n)" for a number without one.
func (t Type) String() string {
	if name := t.format().name; name != "" {
		return name
	}
	return fmt.Sprintf("Type(%d)", uint32(t))
}

// Parse finds a type by its name, in any case. Names of types that are not [Type.Supported] are found too.
// An unknown name is [ErrUnsupported].
func Parse(name string) (Type, error) {
	for t := range formats {
		if formats[t].name != "" && strings.EqualFold(formats[t].name, name) {
			return Type(t), nil
		}
	}
	return 0, fmt.Errorf("quant: no type is named %q: %w", name, ErrUnsupported)
}

// Supported reports whether the type can be dequantized here. Only then are BlockLen and BlockBytes positive.
func (t Type) Supported() bool { return t.format().dequantize != nil }

// CanQuantize reports whether [Type.Quantize] exists for the type.
func (t Type) CanQuantize() bool { return t.format().quantize != nil }

// BlockLen returns how many values a block holds: 1 for plain numbers, 32 or 256 for the others, 0 if unsupported.
func (t Type) BlockLen() int { return t.format().blockLen }

// BlockBytes returns how many bytes a block takes, 0 if unsupported.
func (t Type) BlockBytes() int { return t.format().blockBytes }

// Size returns how many bytes n values take. It fails with [ErrUnsupported], or with [ErrLength]
// where n is negative, no whole number of blocks, or so large that the size overflows.
func (t Type) Size(n int64) (int64, error) {
	f := t.format()
	if f.dequantize == nil {
		return 0, fmt.Errorf("quant: size of %v: %w", t, ErrUnsupported)
	}
	blockLen, blockBytes := int64(f.blockLen), int64(f.blockBytes)
	if n < 0 || n%blockLen != 0 || n/blockLen > math.MaxInt64/blockBytes {
		return 0, fmt.Errorf("quant: %d values are no whole number of %v blocks of %d: %w", n, t, blockLen, ErrLength)
	}
	return n / blockLen * blockBytes, nil
}

// Dequantize decodes src, whole blocks, into dst, whose length is the number of values in them.
// Each value is the float32 that ggml's reference makes of it, bit for bit: no step is fused.
// It fails with [ErrUnsupported] or [ErrLength] and then leaves dst alone.
func (t Type) Dequantize(dst []float32, src []byte) error {
	if err := t.checkLengths(len(dst), len(src)); err != nil {
		return fmt.Errorf("quant: dequantize: %w", err)
	}
	t.format().dequantize(dst, src)
	return nil
}

// Quantize encodes src into dst, whose length is [Type.Size] of len(src). Blocks are independent of each other,
// so long tensors can be encoded in parallel, piece by piece, with the same result.
//
// F32, F16 and BF16 take every value (rounding to nearest even, overflow to infinity, NaN to NaN). The block types
// take magnitudes up to 65504, which all their scales can express, and fail with [ErrRange] beyond. Other failures are [ErrUnsupported] and [ErrLength]; a failure leaves dst alone.
func (t Type) Quantize(dst []byte, src []float32) error {
	f := t.format()
	if f.quantize == nil {
		return fmt.Errorf("quant: quantize to %v: %w", t, ErrUnsupported)
	}
	if err := t.checkLengths(len(src), len(dst)); err != nil {
		return fmt.Errorf("quant: quantize: %w", err)
	}
	if f.blockLen > 1 {
		if i := firstBeyond(src, maxHalf); i >= 0 {
			return fmt.Errorf("quant: quantize: value %d is %v, %v takes magnitudes up to %d: %w", i, src[i], t, maxHalf, ErrRange)
		}
	}
	f.quantize(dst, src)
	return nil
}

// checkLengths tells whether numBytes is the size of n values.
func (t Type) checkLengths(n, numBytes int) error {
	want, err := t.Size(int64(n))
	if err != nil {
		return err
	}
	if want != int64(numBytes) {
		return fmt.Errorf("%d values of %v take %d bytes, not %d: %w", n, t, want, numBytes, ErrLength)
	}
	return nil
}

// firstBeyond returns the index of the first value whose magnitude is over limit or that is NaN, -1 if there is none.
func firstBeyond(values []float32, limit float32) int {
	// Without their sign, float32 bit patterns sort as their values do, with NaN above all.
	most := math.Float32bits(limit)
	for i, v := range values {
		if math.Float32bits(v)&^(1<<31) > most {
			return i
		}
	}
	return -1
}
