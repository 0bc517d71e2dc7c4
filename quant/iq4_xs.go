package quant

import "encoding/binary"

// IQ4_XS: 256 values in 136 bytes, sub-blocks of 32, levels out of IQ4_NL's table.
//
//	0  d         float16
//	2  scalesH   uint16      bits 2s, 2s+1: bits 4 and 5 of scale s
//	4  scalesL   [4]byte     scalesL[i]: low nibble bits 0–3 of scale 2i, high nibble of scale 2i+1
//	8  qs        [8][16]byte for each sub-block, as IQ4_NL's
//
// value = (d·(scale − 32))·unevenLevels[q]

func dequantizeIQ4XS(dst []float32, src []byte) {
	var q [32]byte
	for ; len(src) >= 136; dst, src = dst[256:], src[136:] {
		d, high := half(src), binary.LittleEndian.Uint16(src[2:])
		for s := range 8 {
			scale := src[4+s/2]>>(s%2*4)&15 | byte(high>>(2*s)&3)<<4
			lookUp(&q, (*[16]byte)(src[8+16*s:]), &unevenLevels)
			scale32((*[32]float32)(dst[32*s:]), &q, d*signed[scale-32])
		}
	}
}

func quantizeIQ4XS(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[136:], src[256:] {
		quantizeWeightedIQ4XS(dst[:136], src[:256], equalImportance[:])
	}
}

func quantizeWeightedIQ4XS(dst []byte, src, importance []float32) {
	for ; len(src) >= 256; dst, src, importance = dst[136:], src[256:], importance[256:] {
		var wanted [8]float32
		var largest float32
		twice := twiceMeanSquare(src[:256])
		for s := range wanted {
			wanted[s] = fitUneven((*[32]float32)(src[32*s:]), (*[32]float32)(importance[32*s:]), twice)
			if abs(wanted[s]) > abs(largest) {
				largest = wanted[s]
			}
		}
		d := largest / -32
		unit := inverse(d)
		var high uint16
		clear(dst[4:8])
		for s := range wanted {
			scale := max(-32, min(31, roundToInt(wanted[s]*unit)))
			dst[4+s/2] |= byte(scale+32) & 15 << (s % 2 * 4)
			high |= uint16(scale+32) >> 4 << (2 * s)
			packUneven((*[16]byte)(dst[8+16*s:]), (*[32]float32)(src[32*s:]), inverse(d*float32(scale)))
		}
		putHalf(dst, d)
		binary.LittleEndian.PutUint16(dst[2:], high)
	}
}
