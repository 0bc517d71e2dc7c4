package quant

import "encoding/binary"

// Q3_K: 256 values in 110 bytes, sub-blocks of 16.
//
//	  0  hmask   [32]byte   bit k of hmask[i]: bit 2 of value 32k+i
//	 32  qs      [64]byte   bits 0 and 1, laid out as in Q2_K
//	 96  scales  [12]byte   scale s has its low four bits in a nibble (s < 8: the low one of byte s, else
//	                        the high one of byte s−8) and its top two bits in byte 8 + s mod 4, at 2·(s div 4)
//	108  d       float16
//
// value = (d·(scale − 32))·(q − 4)

func dequantizeQ3K(dst []float32, src []byte) {
	var q [256]byte
	for ; len(src) >= 110; dst, src = dst[256:], src[110:] {
		for i := 0; i < 64; i += 8 {
			qs := binary.LittleEndian.Uint64(src[32+i:])
			high := binary.LittleEndian.Uint64(src[i%32:]) >> (i / 32 * 4)
			quarters := (*[104]byte)(q[i/32*128+i%32:])
			binary.LittleEndian.PutUint64(quarters[0:], lessEach(qs&lowPairs|high&lowBits<<2, 4))
			binary.LittleEndian.PutUint64(quarters[32:], lessEach(qs>>2&lowPairs|high>>1&lowBits<<2, 4))
			binary.LittleEndian.PutUint64(quarters[64:], lessEach(qs>>4&lowPairs|high>>2&lowBits<<2, 4))
			binary.LittleEndian.PutUint64(quarters[96:], lessEach(qs>>6&lowPairs|high>>3&lowBits<<2, 4))
		}
		scales, d := (*[12]byte)(src[96:]), half(src[108:])
		for s := range 16 {
			scale16((*[16]float32)(dst[16*s:]), (*[16]byte)(q[16*s:]), d*scaleQ3K(scales, s))
		}
	}
}

// scaleQ3K returns scale s, −32 to 31.
func scaleQ3K(scales *[12]byte, s int) float32 {
	low := scales[s%8] >> (s / 8 * 4) & 15
	top := scales[8+s%4] >> (s / 4 * 2) & 3
	return signed[(top<<4|low)-32]
}

func quantizeQ3K(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[110:], src[256:] {
		quantizeWeightedQ3K(dst[:110], src[:256], equalImportance[:])
	}
}

func quantizeWeightedQ3K(dst []byte, src, importance []float32) {
	for ; len(src) >= 256; dst, src, importance = dst[110:], src[256:], importance[256:] {
		x := (*[256]float32)(src)
		weight := weigh(x, importance)
		var wanted, matters [16]float32
		for s := range wanted {
			wanted[s], matters[s] = fitLevels(x[16*s:16*s+16], weight[16*s:16*s+16], 4)
		}
		d, _ := fitLevels(wanted[:], matters[:], 32)
		d = roundHalf(d)
		unit := inverse(d)
		var levels [256]byte // 0 to 7
		var scales [16]int32
		var qx, q2 float32
		for s := range wanted {
			scales[s] = max(-32, min(31, roundToInt(wanted[s]*unit)))
			inverse := inverse(d * float32(scales[s]))
			for i := 16 * s; i < 16*s+16; i++ {
				q := max(-4, min(3, roundToInt(x[i]*inverse)))
				levels[i] = byte(q + 4)
				of := float32(q * scales[s])
				qx += float32(weight[i] * of * x[i])
				q2 += float32(weight[i] * of * of)
			}
		}
		if q2 > 0 { // the best d for these levels
			d = roundHalf(qx / q2)
		}
		packQ3K((*[110]byte)(dst), &levels, &scales)
		putHalf(dst[108:], d)
	}
}

// fitLevels finds the scale, of either sign, such that x ≈ scale·q for levels q in −top … top − 1, and returns
// it with Σ w·q², by which the error grows with the square of what the scale is off by. The value of largest
// magnitude gets a negative level, where there is one more.
func fitLevels(x, weight []float32, top float32) (scale, squares float32) {
	var largest float32
	for _, v := range x {
		if abs(v) > abs(largest) {
			largest = v
		}
	}
	if abs(largest) < negligible {
		return 0, 0
	}
	var bestGain float32
	for trial := range 19 {
		inverse := -(top + float32(0.1*float32(trial-9))) / largest
		for range 2 { // levels for the solution may be better than those that led to it
			var qx, q2 float32
			for i, v := range x {
				q := clamp(roundToEven(v*inverse), -top, top-1)
				wq := weight[i] * q
				qx += float32(wq * v)
				q2 += float32(wq * q)
			}
			if q2 == 0 || qx == 0 {
				break
			}
			if gain := qx * qx; gain > float32(bestGain*q2) {
				bestGain, scale, squares = gain/q2, qx/q2, q2
			}
			inverse = q2 / qx
		}
	}
	return scale, squares
}

// packQ3K writes all but d.
func packQ3K(dst *[110]byte, levels *[256]byte, scales *[16]int32) {
	clear(dst[:108])
	for i, q := range levels {
		dst[i%32] |= q >> 2 << (i / 32)
		dst[32+i/128*32+i%32] |= q & 3 << (i % 128 / 32 * 2)
	}
	for s, scale := range scales {
		six := byte(scale + 32)
		dst[96+s%8] |= six & 15 << (s / 8 * 4)
		dst[104+s%4] |= six >> 4 << (s / 4 * 2)
	}
}
