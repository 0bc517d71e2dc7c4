package quant

// Q5_K: 256 values in 176 bytes, sub-blocks of 32.
//
//	 0  d       float16
//	 2  dmin    float16
//	 4  scales  [12]byte    eight six-bit scales and mins, see scalePair
//	16  qh      [32]byte    bit k of qh[i]: bit 4 of value i of sub-block k
//	48  qs      [128]byte   each run of 32 bytes: sub-block 2k in the low nibbles, 2k+1 in the high ones
//
// value = (d·scale)·q − dmin·min

func dequantizeQ5K(dst []float32, src []byte) {
	for ; len(src) >= 176; dst, src = dst[256:], src[176:] {
		y, scales := (*[256]float32)(dst), (*[12]byte)(src[4:])
		qh, qs := (*[32]byte)(src[16:]), (*[128]byte)(src[48:])
		d, dmin := half(src), half(src[2:])
		for k := range 4 {
			scale0, low0 := scalePair(scales, 2*k)
			scale1, low1 := scalePair(scales, 2*k+1)
			scale0, low0, scale1, low1 = d*scale0, dmin*low0, d*scale1, dmin*low1
			run, out := (*[32]byte)(qs[32*k:]), (*[64]float32)(y[64*k:])
			for i, q := range run {
				high := qh[i] >> (2 * k & 7)
				out[i] = float32(scale0*float32(q&15|high&1<<4)) - low0
				out[i+32] = float32(scale1*float32(q>>4|high&2<<3)) - low1
			}
		}
	}
}
