package quant

import "encoding/binary"

// Q5_0: 32 values in 22 bytes.
//
//	 0  d   float16
//	 2  qh  uint32     bit i: bit 4 of value i
//	 6  qs  [16]byte   qs[i]: low nibble value i, high nibble value i+16
//
// value = d·(q − 16)

func dequantizeQ5_0(dst []float32, src []byte) {
	for ; len(src) >= 22; dst, src = dst[32:], src[22:] {
		y, qs := (*[32]float32)(dst), (*[16]byte)(src[6:])
		d, qh := half(src), binary.LittleEndian.Uint32(src[2:])
		for i, q := range qs {
			y[i] = float32(int32(uint32(q&15)|qh<<4&16)-16) * d
			y[i+16] = float32(int32(uint32(q>>4)|qh>>12&16)-16) * d
			qh >>= 1
		}
	}
}
