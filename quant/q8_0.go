package quant

import "math"

// Q8_0: 32 values in 34 bytes.
//
//	 0  d   float16
//	 2  qs  [32]int8
//
// value = d·q

func dequantizeQ8_0(dst []float32, src []byte) {
	for ; len(src) >= 34; dst, src = dst[32:], src[34:] {
		scale32((*[32]float32)(dst), (*[32]byte)(src[2:]), half(src))
	}
}

func quantizeQ8_0(dst []byte, src []float32) {
	for ; len(src) >= 32; dst, src = dst[34:], src[32:] {
		x, qs := (*[32]float32)(src), (*[32]byte)(dst[2:])
		d := abs(furthest(x)) / 127
		putHalf(dst, d)
		inverse := inverse(d)
		for i, v := range x {
			qs[i] = byte(roundHalfAway(v * inverse))
		}
	}
}

// roundHalfAway rounds to the nearest integer, ties away from zero. The sum is exact in float64.
func roundHalfAway(v float32) int32 {
	return int32(float64(v) + math.Copysign(0.5, float64(v)))
}
