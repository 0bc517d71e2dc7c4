package quant

// scalePair returns scale and min j (0 to 7), six bits each, of the 12 bytes that Q4_K and Q5_K share.
//
//	bytes 0–3   scales 0–3 in the low six bits, the top two bits of scales 4–7 above them
//	bytes 4–7   mins 0–3 in the low six bits, the top two bits of mins 4–7 above them
//	bytes 8–11  the low four bits of scales 4–7 (low nibbles) and of mins 4–7 (high nibbles)
func scalePair(packed *[12]byte, j int) (scale, low float32) {
	if j < 4 {
		return float32(packed[j] & 63), float32(packed[j+4] & 63)
	}
	return float32(packed[j+4]&15 | packed[j-4]>>6<<4), float32(packed[j+4]>>4 | packed[j]>>6<<4)
}
