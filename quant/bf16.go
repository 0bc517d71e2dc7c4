package quant

import (
	"encoding/binary"
	"math"
)

// BF16: the upper half of an IEEE 754 binary32, little-endian, one value a block.

func dequantizeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}
