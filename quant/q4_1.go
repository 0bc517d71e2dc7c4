package quant

// Q4_1: 32 values in 20 bytes.
//
//	 0  d   float16
//	 2  m   float16
//	 4  qs  [16]byte   qs[i]: low nibble value i, high nibble value i+16
//
// value = d·q + m

func dequantizeQ4_1(dst []float32, src []byte) {
	for ; len(src) >= 20; dst, src = dst[32:], src[20:] {
		y, qs := (*[32]float32)(dst), (*[16]byte)(src[4:])
		d, m := half(src), half(src[2:])
		for i, q := range qs {
			y[i] = float32(float32(q&15)*d) + m
			y[i+16] = float32(float32(q>>4)*d) + m
		}
	}
}
