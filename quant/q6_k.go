package quant

// Q6_K: 256 values in 210 bytes, sub-blocks of 16.
//
//	  0  ql      [128]byte   bits 0–3
//	128  qh      [64]byte    bits 4 and 5
//	192  scales  [16]int8
//	208  d       float16
//
// In each half of 128 values (64 bytes of ql, 32 of qh) for i < 32:
//
//	value i     ql[i] low nibble       qh[i] bits 0, 1
//	value i+32  ql[i+32] low nibble    qh[i] bits 2, 3
//	value i+64  ql[i] high nibble      qh[i] bits 4, 5
//	value i+96  ql[i+32] high nibble   qh[i] bits 6, 7
//
// value = (d·scale)·(q − 32)

func dequantizeQ6K(dst []float32, src []byte) {
	for ; len(src) >= 210; dst, src = dst[256:], src[210:] {
		d, scales := half(src[208:]), (*[16]byte)(src[192:])
		for s := range 4 { // 16 values from each quarter of a half
			h, at := s/2, s%2*16
			low0, low1 := (*[16]byte)(src[64*h+at:]), (*[16]byte)(src[64*h+32+at:])
			high := (*[16]byte)(src[128+32*h+at:])
			out := (*[112]float32)(dst[128*h+at:])
			scale := func(quarter int) float32 { return d * float32(int8(scales[8*h+2*quarter+s%2])) }
			scale0, scale1, scale2, scale3 := scale(0), scale(1), scale(2), scale(3)
			for i, q := range high {
				out[i] = scale0 * float32(int32(low0[i]&15|q<<4&48)-32)
				out[i+32] = scale1 * float32(int32(low1[i]&15|q<<2&48)-32)
				out[i+64] = scale2 * float32(int32(low0[i]>>4|q&48)-32)
				out[i+96] = scale3 * float32(int32(low1[i]>>4|q>>2&48)-32)
			}
		}
	}
}

func quantizeQ6K(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[210:], src[256:] {
		x, scales := (*[256]float32)(src), (*[16]byte)(dst[192:])
		var wanted [16]float32
		var largest float32
		for s := range wanted {
			wanted[s] = fitSymmetric((*[16]float32)(x[16*s:]))
			if abs(wanted[s]) > abs(largest) {
				largest = wanted[s]
			}
		}
		putHalf(dst[208:], largest/-128)
		unit, d := inverse(largest/-128), half(dst[208:])
		var levels [256]byte
		for s := range wanted {
			scale := min(127, roundToInt(wanted[s]*unit))
			scales[s] = byte(scale)
			inverse := inverse(d * float32(scale))
			for i, v := range x[16*s : 16*s+16] {
				levels[16*s+i] = byte(max(-32, min(31, roundToInt(v*inverse))) + 32)
			}
		}
		packQ6K((*[192]byte)(dst), &levels)
	}
}

// packQ6K writes ql and qh.
func packQ6K(packed *[192]byte, levels *[256]byte) {
	for i := range 64 {
		h := i / 32
		at := 96*h + i
		q0, q1, q2, q3 := levels[at], levels[at+32], levels[at+64], levels[at+96]
		packed[32*h+i] = q0&15 | q2<<4
		packed[32*h+i+32] = q1&15 | q3<<4
		packed[128+i] = q0>>4 | q1>>4<<2 | q2>>4<<4 | q3>>4<<6
	}
}
