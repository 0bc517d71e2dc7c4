package quant

import (
	"encoding/binary"
	"math"
)

// F32: IEEE 754 binary32, little-endian, one value a block.

func dequantizeF32(dst []float32, src []byte) {
	for ; len(dst) >= 4 && len(src) >= 16; dst, src = dst[4:], src[16:] {
		dst[0] = math.Float32frombits(binary.LittleEndian.Uint32(src))
		dst[1] = math.Float32frombits(binary.LittleEndian.Uint32(src[4:]))
		dst[2] = math.Float32frombits(binary.LittleEndian.Uint32(src[8:]))
		dst[3] = math.Float32frombits(binary.LittleEndian.Uint32(src[12:]))
	}
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func quantizeF32(dst []byte, src []float32) {
	for i, v := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
	}
}
