package quant

// Q5_K: 256 values in 176 bytes, sub-blocks of 32.
//
//	 0  d       float16
//	 2  dmin    float16
//	 4  scales  [12]byte    eight six-bit scales and lows, see unpackAffine
//	16  qh      [32]byte    bit k of qh[i]: bit 4 of value i of sub-block k
//	48  qs      [128]byte   each run of 32 bytes: sub-block 2k in the low nibbles, 2k+1 in the high ones
//
// value = (d·scale)·q − dmin·low

func dequantizeQ5K(dst []float32, src []byte) {
	for ; len(src) >= 176; dst, src = dst[256:], src[176:] {
		y, scales := (*[256]float32)(dst), (*[12]byte)(src[4:])
		qh, qs := (*[32]byte)(src[16:]), (*[128]byte)(src[48:])
		d, dmin := half(src), half(src[2:])
		for k := range 4 {
			scale0, low0 := unpackAffine(scales, 2*k)
			scale1, low1 := unpackAffine(scales, 2*k+1)
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

func quantizeQ5K(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[176:], src[256:] {
		levels := encodeAffine((*[16]byte)(dst), (*[256]float32)(src), 31)
		qh, qs := (*[32]byte)(dst[16:]), (*[128]byte)(dst[48:])
		*qh = [32]byte{}
		for i := range qs {
			k, at := i/32*2, i/32*64+i%32
			q0, q1 := levels[at], levels[at+32]
			qs[i] = q0&15 | q1<<4
			qh[i%32] |= q0>>4<<k | q1>>4<<(k+1)
		}
	}
}
