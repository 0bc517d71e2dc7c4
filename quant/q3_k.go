package quant

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
	for ; len(src) >= 110; dst, src = dst[256:], src[110:] {
		y, hmask, qs := (*[256]float32)(dst), (*[32]byte)(src), (*[64]byte)(src[32:])
		scales, d := (*[12]byte)(src[96:]), half(src[108:])
		for s := range 16 {
			scale := d * float32(scaleQ3K(scales, s))
			high, run := (*[16]byte)(hmask[s%2*16:]), (*[16]byte)(qs[s/8*32+s%2*16:])
			bit, shift := s/2, s%8/2*2
			out := (*[16]float32)(y[16*s:])
			for i, q := range run {
				out[i] = scale * float32(int32(q>>(shift&7)&3|high[i]>>(bit&7)&1<<2)-4)
			}
		}
	}
}

// scaleQ3K returns scale s, −32 to 31.
func scaleQ3K(scales *[12]byte, s int) int32 {
	low := scales[s%8] >> (s / 8 * 4) & 15
	top := scales[8+s%4] >> (s / 4 * 2) & 3
	return int32(top<<4|low) - 32
}
