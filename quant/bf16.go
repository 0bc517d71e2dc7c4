package quant

import (
	"encoding/binary"
	"math"
)

// BF16: the upper half of an IEEE 754 binary32, little-endian, one value a block.

func dequantizeBF16(dst []float32, src []byte) {
	for ; len(dst) >= 4 && len(src) >= 8; dst, src = dst[4:], src[8:] {
		four := binary.LittleEndian.Uint64(src)
		dst[0] = math.Float32frombits(uint32(four) << 16)
		dst[1] = math.Float32frombits(uint32(four) &^ 0xffff)
		dst[2] = math.Float32frombits(uint32(four>>16) &^ 0xffff)
		dst[3] = math.Float32frombits(uint32(four>>32) &^ 0xffff)
	}
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

// quantizeBF16 rounds to nearest even. A NaN keeps its sign and upper bits and becomes a quiet one.
func quantizeBF16(dst []byte, src []float32) {
	for i, v := range src {
		bits := math.Float32bits(v)
		if v != v {
			bits |= 1 << 22
		} else {
			bits += 0x7fff + bits>>16&1
		}
		binary.LittleEndian.PutUint16(dst[2*i:], uint16(bits>>16))
	}
}
