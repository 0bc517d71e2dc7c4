package quant

import "encoding/binary"

// IQ1_M: 256 values in 56 bytes, sub-blocks of 16.
//
//	 0  qs      [32]byte    qs[k]: bits 0–7 of the place in IQ1_S's codebook of values 8k to 8k+7
//	32  qh      [16]byte    qh[s]: low nibble values 16s to 16s+7, high nibble the next eight: three bits for bits
//	                        8–10 of the place, and a bit that says that the shift is −⅛ instead of ⅛
//	48  scales  [4]uint16   scales[i], bits 3j to 3j+2 for j < 4: scale of sub-block 4i+j;
//	                        bits 12–15: bits 4i to 4i+3 of d, a float16
//
// value = (d·(2·scale + 1))·(q + shift), q being −1, 0 or 1

func dequantizeIQ1M(dst []float32, src []byte) {
	grid := iq1Grid()
	var q [16]byte
	for ; len(src) >= 56; dst, src = dst[256:], src[56:] {
		d := halfToFloat32(uint16(src[49]>>4) | uint16(src[51]>>4)<<4 | uint16(src[53]>>4)<<8 | uint16(src[55]>>4)<<12)
		for s := range 16 {
			for l := range 2 {
				high := uint(src[32+s]) >> (4 * l)
				entry := uint(src[2*s+l]) | high&7<<8
				binary.LittleEndian.PutUint64(q[8*l:], shiftEach(grid[entry], high&8 != 0))
			}
			scale := binary.LittleEndian.Uint16(src[48+s/4*2:]) >> (s % 4 * 3) & 7
			scale16((*[16]float32)(dst[16*s:]), &q, d*float32(2*scale+1)*0.125)
		}
	}
}

func quantizeIQ1M(dst []byte, src, importance []float32) {
	for ; len(src) >= 256; dst, src, importance = dst[56:], src[256:], importance[256:] {
		b := encodeShifted(src[:256], importance[:256], 16, 8)
		clear(dst[32:56])
		for k := range 32 {
			dst[k] = byte(b.entries[k])
			high := byte(b.entries[k] >> 8)
			if b.negative[k] {
				high |= 8
			}
			dst[32+k/2] |= high << (k % 2 * 4)
		}
		d := halfFromFloat32(b.d)
		for i := range 4 {
			word := d >> (4 * i) << 12
			for j := range 4 {
				word |= uint16(b.scales[4*i+j]) << (3 * j)
			}
			binary.LittleEndian.PutUint16(dst[48+2*i:], word)
		}
	}
}
