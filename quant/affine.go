package quant

// What Q4_K and Q5_K share: eight sub-blocks of 32 values, value = (d·scale)·q − dmin·low, with six-bit
// scales and lows.

// unpackAffine returns scale and low of sub-block j from their 12 bytes.
//
//	bytes 0–3   scales 0–3 in the low six bits, the top two bits of scales 4–7 above them
//	bytes 4–7   lows 0–3 in the low six bits, the top two bits of lows 4–7 above them
//	bytes 8–11  the low four bits of scales 4–7 (low nibbles) and of lows 4–7 (high nibbles)
func unpackAffine(packed *[12]byte, j int) (scale, low float32) {
	if j < 4 {
		return float32(packed[j] & 63), float32(packed[j+4] & 63)
	}
	return float32(packed[j+4]&15 | packed[j-4]>>6<<4), float32(packed[j+4]>>4 | packed[j]>>6<<4)
}

// packAffine is the inverse of unpackAffine.
func packAffine(packed *[12]byte, scales, lows *[8]byte) {
	for j := range 4 {
		packed[j] = scales[j] | scales[j+4]>>4<<6
		packed[j+4] = lows[j] | lows[j+4]>>4<<6
		packed[j+8] = scales[j+4]&15 | lows[j+4]<<4
	}
}

// decodeAffine scales the levels of a block that starts with d, dmin and the packed scales.
func decodeAffine(y *[256]float32, header *[16]byte, levels *[256]byte) {
	d, dmin := half(header[0:]), half(header[2:])
	for j := range 8 {
		scale, low := unpackAffine((*[12]byte)(header[4:]), j)
		affine32((*[32]float32)(y[32*j:]), (*[32]byte)(levels[32*j:]), d*scale, -(dmin * low))
	}
}

// encodeAffine writes d, dmin and the packed scales, the first 16 bytes of a block, and returns each value's
// q in 0 … top.
func encodeAffine(header *[16]byte, x *[256]float32, top int32) (levels [256]byte) {
	var scales, lows [8]float32
	for j := range scales {
		scales[j], lows[j] = fitAffine((*[32]float32)(x[32*j:]), top)
	}
	d, sixScales := sixBits(&scales)
	dmin, sixLows := sixBits(&lows)
	putHalf(header[0:], d)
	putHalf(header[2:], dmin)
	packAffine((*[12]byte)(header[4:]), &sixScales, &sixLows)

	// The levels are chosen last, for the scales as they will be read.
	d, dmin = half(header[0:]), half(header[2:])
	for j := range scales {
		inverse, low := inverse(d*float32(sixScales[j])), float32(dmin*float32(sixLows[j]))
		for i, v := range x[32*j : 32*j+32] {
			levels[32*j+i] = byte(max(0, min(top, roundToInt((v+low)*inverse))))
		}
	}
	return levels
}

// sixBits returns the unit in which non-negative values fit six bits, and the values in it.
func sixBits(values *[8]float32) (unit float32, six [8]byte) {
	var most float32
	for _, v := range values {
		most = max(most, v)
	}
	unit = most / 63
	inverse := inverse(unit)
	for j, v := range values {
		six[j] = byte(min(63, roundToInt(v*inverse)))
	}
	return unit, six
}
