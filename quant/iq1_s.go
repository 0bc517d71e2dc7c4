package quant

import (
	"encoding/binary"
	"sync"
)

// IQ1_S: 256 values in 50 bytes, sub-blocks of 32.
//
//	 0  d   float16
//	 2  qs  [32]byte    qs[k]: bits 0–7 of the place in the codebook of values 8k to 8k+7
//	34  qh  [8]uint16   qh[s], bits 3l to 3l+2 for l < 4: bits 8–10 of the place of values 32s+8l to 32s+8l+7;
//	                    bits 12–14: scale of sub-block s; bit 15: its shift is −⅛ instead of ⅛
//
// value = (d·(2·scale + 1))·(q + shift), q being −1, 0 or 1

// iq1Bias is what iq1Grid's levels have too much, so that none is negative.
const iq1Bias = 16

// iq1Grid has the levels of IQ1's codebook in eighths: with the shift they are whole.
var iq1Grid = sync.OnceValue(func() *[2048]uint64 {
	return (*[2048]uint64)(spreadGrid(iq1sEntries[:], [4]byte{iq1Bias - 8, iq1Bias, iq1Bias + 8}))
})

// shiftEach returns eight levels of iq1Grid as int8, each with the shift added.
func shiftEach(levels uint64, negative bool) uint64 {
	if negative {
		return lessEach(levels, iq1Bias+1)
	}
	return lessEach(levels, iq1Bias-1)
}

func dequantizeIQ1S(dst []float32, src []byte) {
	grid := iq1Grid()
	var q [32]byte
	for ; len(src) >= 50; dst, src = dst[256:], src[50:] {
		d := half(src)
		for s := range 8 {
			low, high := src[2+4*s:], binary.LittleEndian.Uint16(src[34+2*s:])
			for l := range 4 {
				entry := uint(low[l]) | uint(high)>>(3*l)&7<<8
				binary.LittleEndian.PutUint64(q[8*l:], shiftEach(grid[entry], high>>15 != 0))
			}
			scale32((*[32]float32)(dst[32*s:]), &q, d*float32(2*(high>>12&7)+1)*0.125)
		}
	}
}

func quantizeIQ1S(dst []byte, src, importance []float32) {
	for ; len(src) >= 256; dst, src, importance = dst[50:], src[256:], importance[256:] {
		b := encodeShifted(src[:256], importance[:256], 32, 32)
		putHalf(dst, b.d)
		for s := range 8 {
			high := uint16(b.scales[s]) << 12
			if b.negative[4*s] {
				high |= 1 << 15
			}
			for l := range 4 {
				dst[2+4*s+l] = byte(b.entries[4*s+l])
				high |= b.entries[4*s+l] >> 8 << (3 * l)
			}
			binary.LittleEndian.PutUint16(dst[34+2*s:], high)
		}
	}
}
