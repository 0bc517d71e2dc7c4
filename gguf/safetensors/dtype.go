package safetensors

import (
	"fmt"

	"github.com/gemwire/gemwire/quant"
)

// A DType is the type of a tensor's values, by its name in the format.
type DType string

// The types whose values can be read and written. Others are listed, see dtypeBits.
const (
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
)

// dtypeBits has the bits of a value of each type of the format.
var dtypeBits = map[DType]int64{
	"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
	"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
	"I16": 16, "U16": 16, F16: 16, BF16: 16,
	"I32": 32, "U32": 32, F32: 32,
	"I64": 64, "U64": 64, "F64": 64, "C64": 64,
}

// quantType is the same type under the roof that decodes it.
func (d DType) quantType() (quant.Type, error) {
	switch d {
	case F32:
		return quant.F32, nil
	case F16:
		return quant.F16, nil
	case BF16:
		return quant.BF16, nil
	}
	return 0, fmt.Errorf("values of type %q: %w", string(d), quant.ErrUnsupported)
}
