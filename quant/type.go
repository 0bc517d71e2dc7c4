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

	IQ2_XXS Type = 16
	IQ2_XS  Type = 17
	IQ3_XXS Type = 18
	IQ1_S   Type = 19
	IQ4_NL  Type = 20
	IQ3_S   Type = 21
	IQ2_S   Type = 22
	IQ4_XS  Type = 23
	IQ1_M   Type = 29
	BF16    Type = 30
	TQ1_0   Type = 34
	TQ2_0   Type = 35
	MXFP4   Type = 39
	NVFP4   Type = 40
)

var (
	// ErrUnsupported is wrapped by errors about a type, or a direction of a type, that this package does not have.
	ErrUnsupported = errors.New("unsupported tensor type")
	// ErrLength is wrapped by errors about lengths that are no whole blocks, or that do not belong together.
	ErrLength = errors.New("length does not fit the tensor type")
	// ErrRange is wrapped by errors about values that a block cannot hold: NaN, infinities and magnitudes
	// beyond its scale.
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

// BlockLen returns how many values a block holds: 1 for plain numbers, 32, 64 or 256 for the others, 0 if unsupported.
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
// take magnitudes up to 65504, which their scales can express (2688 for NVFP4), and fail with [ErrRange] beyond. Other
// failures are [ErrUnsupported] and [ErrLength]; a failure leaves dst alone.
func (t Type) Quantize(dst []byte, src []float32) error {
	f := t.format()
	if f.quantize == nil {
		return fmt.Errorf("quant: quantize to %v: %w", t, ErrUnsupported)
	}
	if err := t.checkLengths(len(src), len(dst)); err != nil {
		return fmt.Errorf("quant: quantize: %w", err)
	}
	if f.blockLen > 1 {
		most := t.largest()
		if i := firstBeyond(src, most); i >= 0 {
			return fmt.Errorf("quant: quantize: value %d is %v, %v takes magnitudes up to %v: %w", i, src[i], t,
				most, ErrRange)
		}
	}
	f.quantize(dst, src)
	return nil
}

// CanQuantizeWeighted reports whether [Type.QuantizeWeighted] exists for the type.
func (t Type) CanQuantizeWeighted() bool { return weightedEncoders[t] != nil }

// QuantizeWeighted is [Type.Quantize] where it is known how much each column matters: importance has a number for
// each column, such as the mean square of what a matrix is multiplied by (a row of an importance matrix). Only their
// ratios count. src is whole rows of len(importance) values. It is the only way to encode IQ1 to IQ3.
//
// It fails as Quantize does, also with [ErrRange] for an importance that is negative, infinite or NaN, and with
// [ErrLength] where a row of len(importance) values is not a whole number of blocks.
func (t Type) QuantizeWeighted(dst []byte, src, importance []float32) error {
	encode := weightedEncoders[t]
	if encode == nil {
		return fmt.Errorf("quant: quantize to %v with an importance: %w", t, ErrUnsupported)
	}
	if err := t.checkLengths(len(src), len(dst)); err != nil {
		return fmt.Errorf("quant: quantize: %w", err)
	}
	columns := len(importance)
	if columns == 0 || columns%t.BlockLen() != 0 || len(src)%columns != 0 {
		return fmt.Errorf("quant: quantize: %d values with the importance of %d columns, in %v blocks of %d: %w",
			len(src), columns, t, t.BlockLen(), ErrLength)
	}
	scaled, err := scaleImportance(importance)
	if err != nil {
		return err
	}
	if i := firstBeyond(src, t.largest()); i >= 0 {
		return fmt.Errorf("quant: quantize: value %d is %v, %v takes magnitudes up to %v: %w", i, src[i], t,
			t.largest(), ErrRange)
	}
	rowBytes := columns / t.BlockLen() * t.BlockBytes()
	for ; len(src) > 0; dst, src = dst[rowBytes:], src[columns:] {
		encode(dst[:rowBytes], src[:columns], scaled)
	}
	return nil
}

// scaleImportance returns the importance with a mean of 1, so that no sum of it overflows or vanishes. What does not
// matter at all still counts a little: where nothing matters the values do.
func scaleImportance(importance []float32) ([]float32, error) {
	var sum float64
	for i, v := range importance {
		if !(v >= 0) || v > math.MaxFloat32 {
			return nil, fmt.Errorf("quant: quantize: the importance of column %d is %v: %w", i, v, ErrRange)
		}
		sum += float64(v)
	}
	scale := 0.0
	if sum > 0 {
		scale = float64(len(importance)) / sum
	}
	scaled := make([]float32, len(importance))
	for i, v := range importance {
		scaled[i] = float32(max(float64(v)*scale, 1e-6))
	}
	return scaled, nil
}

// largest is the magnitude that an encoder of blocks takes at most.
func (t Type) largest() float32 {
	if t == NVFP4 {
		return maxNVFP4
	}
	return maxHalf
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
