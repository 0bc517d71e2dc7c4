package quant

import "math"

// MXFP4: 32 values in 17 bytes, the OCP's microscaling format.
//
//	0  e   uint8      E8M0: the scale is 2^(e − 127); there is no NaN
//	1  qs  [16]byte   E2M1; qs[i]: low nibble value i, high nibble value i+16
//
// value = 2^(e − 128)·fourBitFloats[q]

// fourBitFloats are twice the values of E2M1, which are whole then. There is no −0.
var fourBitFloats = [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

// halfPowerOfTwo returns 2^(e − 128).
func halfPowerOfTwo(e byte) float32 {
	if e < 2 { // subnormal
		return math.Float32frombits(0x00200000 << e)
	}
	return math.Float32frombits(uint32(e-1) << 23)
}

func dequantizeMXFP4(dst []float32, src []byte) {
	var q [32]byte
	for ; len(src) >= 17; dst, src = dst[32:], src[17:] {
		lookUp(&q, (*[16]byte)(src[1:]), &fourBitFloats)
		scale32((*[32]float32)(dst), &q, halfPowerOfTwo(src[0]))
	}
}

// quantizeMXFP4 gives the value of largest magnitude the largest power of two among the levels, or what lies beyond.
func quantizeMXFP4(dst []byte, src []float32) {
	for ; len(src) >= 32; dst, src = dst[17:], src[32:] {
		x, qs := (*[32]float32)(src), (*[16]byte)(dst[1:])
		dst[0] = 0
		if most := abs(furthest(x)); most > 0 {
			log := float32(math.Log2(float64(most)))
			dst[0] = byte(max(0, math.Floor(float64(log))-2+127))
		}
		d := halfPowerOfTwo(dst[0])
		for i := range qs {
			qs[i] = closestFourBits(x[i], d) | closestFourBits(x[i+16], d)<<4
		}
	}
}

// closestFourBits returns the number of the level which times d is closest to v, the smaller one of two.
func closestFourBits(v, d float32) byte {
	magnitude := abs(v)
	best, least := byte(0), magnitude
	for q := byte(1); q < 8; q++ {
		if off := abs(float32(float32(fourBitFloats[q])*d) - magnitude); off < least {
			best, least = q, off
		}
	}
	if v < 0 && best > 0 {
		best += 8
	}
	return best
}
