package quant

import "math"

// NVFP4: 64 values in 36 bytes, sub-blocks of 16.
//
//	0  d   [4]byte      UE4M3 for each sub-block: four bits of exponent (bias 7), three of fraction; 0x7f counts as 0
//	4  qs  [4][8]byte   E2M1 for each sub-block; qs[s][i]: low nibble value i, high nibble value i+8
//
// value = (d/2)·fourBitFloats[q], with MXFP4's table

// maxNVFP4 is the largest value: 6, the largest of E2M1, times 448, the largest of UE4M3.
const maxNVFP4 = 6 * 448

// halfScales has half of every UE4M3. The top bit, which should be 0, is not looked at, but for the two zeros.
var halfScales = func() (table [256]float32) {
	for b := range table {
		exponent, fraction := b>>3&15, float64(b&7)
		switch {
		case b == 0 || b == 0x7f:
		case exponent == 0:
			table[b] = float32(math.Ldexp(fraction, -10))
		default:
			table[b] = float32(math.Ldexp(8+fraction, exponent-11))
		}
	}
	return table
}()

func dequantizeNVFP4(dst []float32, src []byte) {
	var q [16]byte
	for ; len(src) >= 36; dst, src = dst[64:], src[36:] {
		for s := range 4 {
			for i, b := range src[4+8*s : 12+8*s] {
				q[i], q[i+8] = byte(fourBitFloats[b&15]), byte(fourBitFloats[b>>4])
			}
			scale16((*[16]float32)(dst[16*s:]), &q, halfScales[src[s]])
		}
	}
}

func quantizeNVFP4(dst []byte, src []float32) {
	for ; len(src) >= 64; dst, src = dst[36:], src[64:] {
		for s := range 4 {
			x := (*[16]float32)(src[16*s:])
			var most float32
			for _, v := range x {
				most = max(most, abs(v))
			}
			dst[s] = scaleNVFP4(most / 6)
			d := halfScales[dst[s]]
			for i := range 8 {
				dst[4+8*s+i] = closestFourBits(x[i], d) | closestFourBits(x[i+8], d)<<4
			}
		}
	}
}

// scaleNVFP4 returns the UE4M3 that is closest to v, the upper one of two. v is at most 448. (From 256 on ggml
// takes 448 for everything, which is no closer.)
func scaleNVFP4(v float32) byte {
	const smallestNormal = 1.0 / 64
	if v < smallestNormal {
		return byte(min(7, int32(float32(v*512)+0.5)))
	}
	// Exponent and the fraction's top bits move into place, with half of what is cut off added.
	const rebias = (127 - 7) << 3
	return byte(min(0x7e, (math.Float32bits(v)+1<<19)>>20-rebias))
}
