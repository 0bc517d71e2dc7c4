package quant

import "encoding/binary"

// F16: IEEE 754 binary16, little-endian, one value a block.

func dequantizeF16(dst []float32, src []byte) {
	table := halves()
	for ; len(dst) >= 4 && len(src) >= 8; dst, src = dst[4:], src[8:] {
		four := binary.LittleEndian.Uint64(src)
		dst[0] = table[uint16(four)]
		dst[1] = table[uint16(four>>16)]
		dst[2] = table[uint16(four>>32)]
		dst[3] = table[uint16(four>>48)]
	}
	for i := range dst {
		dst[i] = table[binary.LittleEndian.Uint16(src[2*i:])]
	}
}

func quantizeF16(dst []byte, src []float32) {
	for i, v := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], halfFromFloat32(v))
	}
}
