package quant

// IQ4_NL: 32 values in 18 bytes, levels out of a table.
//
//	 0  d   float16
//	 2  qs  [16]byte   qs[i]: low nibble value i, high nibble value i+16
//
// value = d·unevenLevels[q]

// unevenLevels are the levels of IQ4_NL and IQ4_XS (ggml's kvalues_iq4nl): close together where a normal
// distribution has most values.
var unevenLevels = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// lookUp sets the levels of 32 values that 16 bytes hold the numbers of, as IQ4_NL's.
func lookUp(q *[32]byte, qs *[16]byte, levels *[16]int8) {
	for i, b := range qs {
		q[i], q[i+16] = byte(levels[b&15]), byte(levels[b>>4])
	}
}

func dequantizeIQ4NL(dst []float32, src []byte) {
	var q [32]byte
	for ; len(src) >= 18; dst, src = dst[32:], src[18:] {
		lookUp(&q, (*[16]byte)(src[2:]), &unevenLevels)
		scale32((*[32]float32)(dst), &q, half(src))
	}
}

func quantizeIQ4NL(dst []byte, src []float32) {
	for ; len(src) >= 32; dst, src = dst[18:], src[32:] {
		quantizeWeightedIQ4NL(dst[:18], src[:32], equalImportance[:32])
	}
}

// equalImportance is for a block that nothing is known of.
var equalImportance = func() (ones [256]float32) {
	for i := range ones {
		ones[i] = 1
	}
	return ones
}()

func quantizeWeightedIQ4NL(dst []byte, src, importance []float32) {
	for ; len(src) >= 32; dst, src, importance = dst[18:], src[32:], importance[32:] {
		x := (*[32]float32)(src)
		scale := fitUneven(x, (*[32]float32)(importance), twiceMeanSquare(x[:]))
		putHalf(dst, scale)
		packUneven((*[16]byte)(dst[2:]), x, inverse(scale))
	}
}

// packUneven writes the numbers of the levels that are closest to x·inverse.
func packUneven(qs *[16]byte, x *[32]float32, inverse float32) {
	for i := range qs {
		qs[i] = closestUneven(x[i]*inverse) | closestUneven(x[i+16]*inverse)<<4
	}
}

// unevenBelow is the number of the last level that is at most its index less 127.
var unevenBelow = func() (table [240]byte) {
	for i := range table {
		for l, level := range unevenLevels {
			if int(level)+127 <= i {
				table[i] = byte(l)
			}
		}
	}
	return table
}()

// closestUneven returns the number of the level that is closest to v, the upper one of two.
func closestUneven(v float32) byte {
	if v <= -127 {
		return 0
	}
	if v >= 113 {
		return 15
	}
	below := unevenBelow[min(len(unevenBelow)-1, int(v+127))] // a sum may be rounded up
	if v-float32(unevenLevels[below]) < float32(unevenLevels[below+1])-v {
		return below
	}
	return below + 1
}
