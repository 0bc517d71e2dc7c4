package quant

import "encoding/binary"

// Q4_0: 32 values in 18 bytes.
//
//	 0  d   float16
//	 2  qs  [16]byte   qs[i]: low nibble value i, high nibble value i+16
//
// value = d·(q − 8)

func dequantizeQ4_0(dst []float32, src []byte) {
	var q [32]byte
	for ; len(src) >= 18; dst, src = dst[32:], src[18:] {
		for i := 0; i < 16; i += 8 {
			qs := binary.LittleEndian.Uint64(src[2+i:])
			binary.LittleEndian.PutUint64(q[i:], lessEach(qs&nibbles, 8))
			binary.LittleEndian.PutUint64(q[i+16:], lessEach(qs>>4&nibbles, 8))
		}
		scale32((*[32]float32)(dst), &q, half(src))
	}
}

// quantizeQ4_0 gives the value of largest magnitude the level −8, where there is one more.
func quantizeQ4_0(dst []byte, src []float32) {
	for ; len(src) >= 32; dst, src = dst[18:], src[32:] {
		x, qs := (*[32]float32)(src), (*[16]byte)(dst[2:])
		d := furthest(x) / -8
		putHalf(dst, d)
		inverse := inverse(d)
		level := func(v float32) byte { return byte(min(15, int32(float32(v*inverse)+8.5))) }
		for i := range qs {
			qs[i] = level(x[i]) | level(x[i+16])<<4
		}
	}
}

// furthest returns the value of largest magnitude, with its sign, the first of several.
func furthest(x *[32]float32) float32 {
	var found float32
	for _, v := range x {
		if abs(v) > abs(found) {
			found = v
		}
	}
	return found
}
