package quant

// Q4_0: 32 values in 18 bytes.
//
//	 0  d   float16
//	 2  qs  [16]byte   qs[i]: low nibble value i, high nibble value i+16
//
// value = d·(q − 8)

func dequantizeQ4_0(dst []float32, src []byte) {
	for ; len(src) >= 18; dst, src = dst[32:], src[18:] {
		y, qs := (*[32]float32)(dst), (*[16]byte)(src[2:])
		d := half(src)
		for i, q := range qs {
			y[i] = float32(int32(q&15)-8) * d
			y[i+16] = float32(int32(q>>4)-8) * d
		}
	}
}
