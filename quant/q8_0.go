package quant

// Q8_0: 32 values in 34 bytes.
//
//	 0  d   float16
//	 2  qs  [32]int8
//
// value = d·q

func dequantizeQ8_0(dst []float32, src []byte) {
	for ; len(src) >= 34; dst, src = dst[32:], src[34:] {
		y, qs := (*[32]float32)(dst), (*[32]byte)(src[2:])
		d := half(src)
		for i, q := range qs {
			y[i] = float32(int8(q)) * d
		}
	}
}
