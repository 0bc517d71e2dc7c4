package quant

import "encoding/binary"

// F16: IEEE 754 binary16, little-endian, one value a block.

func dequantizeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = halfToFloat32(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func quantizeF16(dst []byte, src []float32) {
	for i, v := range src {
		putHalf(dst[2*i:], v)
	}
}
