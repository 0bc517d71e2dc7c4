package quant

import "encoding/binary"

// Q3_K: 256 values in 110 bytes, sub-blocks of 16.
//
//	  0  hmask   [32]byte   bit k of hmask[i]: bit 2 of value 32k+i
//	 32  qs      [64]byte   bits 0 and 1, laid out as in Q2_K
//	 96  scales  [12]byte   scale s has its low four bits in a nibble (s < 8: the low one of byte s, else the high one of
//	                        byte s−8) and its top two bits in byte 8 + s mod 4, at 2·(s div 4)
//	108  d       float16
//
// value = (d·(scale − 32))·(q − 4)

func dequantizeQ3K(dst []float32, src []byte) {
	var q [256]byte
	for ; len(src) >= 110; dst, src = dst[256:], src[110:] {
		for i := 0; i < 64; i += 8 {
			qs := binary.LittleEndian.Uint64(src[32+i:])
			high := binary.LittleEndian.Uint64(src[i%32:]) >> (i / 32 * 4)
			quarters := (*[104]byte)(q[i/32*128+i%32:])
			binary.LittleEndian.PutUint64(quarters[0:], lessEach(qs&lowPairs|high&lowBits<<2, 4))
			binary.LittleEndian.PutUint64(quarters[32:], lessEach(qs>>2&lowPairs|high>>1&lowBits<<2, 4))
			binary.LittleEndian.PutUint64(quarters[64:], lessEach(qs>>4&lowPairs|high>>2&lowBits<<2, 4))
			binary.LittleEndian.PutUint64(quarters[96:], lessEach(qs>>6&lowPairs|high>>3&lowBits<<2, 4))
		}
		scales, d := (*[12]byte)(src[96:]), half(src[108:])
		for s := range 16 {
			scale16((*[16]float32)(dst[16*s:]), (*[16]byte)(q[16*s:]), d*scaleQ3K(scales, s))
		}
	}
}

// scaleQ3K returns scale s, −32 to 31.
func scaleQ3K(scales *[12]byte, s int) float32 {
	low := scales[s%8] >> (s / 8 * 4) & 15
	top := scales[8+s%4] >> (s / 4 * 2) & 3
	return signed[(top<<4|low)-32]
}
