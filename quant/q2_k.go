package quant

// Q2_K: 256 values in 84 bytes, sub-blocks of 16.
//
//	 0  scales  [16]byte   scales[s]: low nibble scale, high nibble min of sub-block s
//	16  qs      [64]byte   32 bytes for each half of 128 values: bits 2j, 2j+1 of byte i are value 32j+i
//	80  d       float16
//	82  dmin    float16
//
// value = (d·scale)·q − dmin·min

func dequantizeQ2K(dst []float32, src []byte) {
	for ; len(src) >= 84; dst, src = dst[256:], src[84:] {
		y, scales, qs := (*[256]float32)(dst), (*[16]byte)(src), (*[64]byte)(src[16:])
		d, dmin := half(src[80:]), half(src[82:])
		for s, sm := range scales {
			scale, low := d*float32(sm&15), dmin*float32(sm>>4)
			run, shift := (*[16]byte)(qs[s/8*32+s%2*16:]), s%8/2*2
			out := (*[16]float32)(y[16*s:])
			for i, q := range run {
				out[i] = float32(scale*float32(q>>(shift&7)&3)) - low
			}
		}
	}
}
