package quant

// Q5_1: 32 values in 24 bytes.
//
//	 0  d   float16
//	 2  m   float16
//	 4  qh  uint32     bit i: bit 4 of value i
//	 8  qs  [16]byte   qs[i]: low nibble value i, high nibble value i+16
//
// value = d·q + m

func dequantizeQ5_1(dst []float32, src []byte) {
	var q [32]byte
	for ; len(src) >= 24; dst, src = dst[32:], src[24:] {
		unpackFiveBits(&q, (*[20]byte)(src[4:]), 0)
		affine32((*[32]float32)(dst), &q, half(src), half(src[2:]))
	}
}

func quantizeQ5_1(dst []byte, src []float32) {
	for ; len(src) >= 32; dst, src = dst[24:], src[32:] {
		x := (*[32]float32)(src)
		low, high := bounds(x)
		d := (high - low) / 31
		putHalf(dst, d)
		putHalf(dst[2:], low)
		inverse := inverse(d)
		packFiveBits((*[20]byte)(dst[4:]), func(i int) byte {
			return byte(min(31, int32(float32((x[i]-low)*inverse)+0.5)))
		})
	}
}
