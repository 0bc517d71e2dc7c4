package quant

// Q4_K: 256 values in 144 bytes, sub-blocks of 32.
//
//	 0  d       float16
//	 2  dmin    float16
//	 4  scales  [12]byte    eight six-bit scales and lows, see unpackAffine
//	16  qs      [128]byte   each run of 32 bytes: sub-block 2k in the low nibbles, 2k+1 in the high ones
//
// value = (d·scale)·q − dmin·low

func dequantizeQ4K(dst []float32, src []byte) {
	for ; len(src) >= 144; dst, src = dst[256:], src[144:] {
		y, scales, qs := (*[256]float32)(dst), (*[12]byte)(src[4:]), (*[128]byte)(src[16:])
		d, dmin := half(src), half(src[2:])
		for k := range 4 {
			scale0, low0 := unpackAffine(scales, 2*k)
			scale1, low1 := unpackAffine(scales, 2*k+1)
			scale0, low0, scale1, low1 = d*scale0, dmin*low0, d*scale1, dmin*low1
			run, out := (*[32]byte)(qs[32*k:]), (*[64]float32)(y[64*k:])
			for i, q := range run {
				out[i] = float32(scale0*float32(q&15)) - low0
				out[i+32] = float32(scale1*float32(q>>4)) - low1
			}
		}
	}
}

func quantizeQ4K(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[144:], src[256:] {
		levels := encodeAffine((*[16]byte)(dst), (*[256]float32)(src), 15)
		qs := (*[128]byte)(dst[16:])
		for i := range qs {
			at := i/32*64 + i%32
			qs[i] = levels[at] | levels[at+32]<<4
		}
	}
}
