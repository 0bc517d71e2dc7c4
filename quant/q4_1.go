package quant

import "encoding/binary"

// Q4_1: 32 values in 20 bytes.
//
//	 0  d   float16
//	 2  m   float16
//	 4  qs  [16]byte   qs[i]: low nibble value i, high nibble value i+16
//
// value = d·q + m

func dequantizeQ4_1(dst []float32, src []byte) {
	var q [32]byte
	for ; len(src) >= 20; dst, src = dst[32:], src[20:] {
		for i := 0; i < 16; i += 8 {
			qs := binary.LittleEndian.Uint64(src[4+i:])
			binary.LittleEndian.PutUint64(q[i:], qs&nibbles)
			binary.LittleEndian.PutUint64(q[i+16:], qs>>4&nibbles)
		}
		affine32((*[32]float32)(dst), &q, half(src), half(src[2:]))
	}
}

func quantizeQ4_1(dst []byte, src []float32) {
	for ; len(src) >= 32; dst, src = dst[20:], src[32:] {
		x, qs := (*[32]float32)(src), (*[16]byte)(dst[4:])
		low, high := bounds(x)
		d := (high - low) / 15
		putHalf(dst, d)
		putHalf(dst[2:], low)
		inverse := inverse(d)
		level := func(v float32) byte { return byte(min(15, int32(float32((v-low)*inverse)+0.5))) }
		for i := range qs {
			qs[i] = level(x[i]) | level(x[i+16])<<4
		}
	}
}

// bounds returns the smallest and the largest value.
func bounds(x *[32]float32) (low, high float32) {
	low, high = x[0], x[0]
	for _, v := range x {
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
	}
	return low, high
}
