package quant

import (
	"encoding/binary"
	"sync"
)

// IQ2_S: 256 values in 82 bytes, sub-blocks of 16.
//
//	 0  d       float16
//	 2  qs      [32]byte   qs[k]: bits 0–7 of the place in the codebook of values 8k to 8k+7
//	34  signs   [32]byte   bit i of signs[k]: value 8k+i is negative
//	66  qh      [8]byte    bits 2j, 2j+1 of qh[i]: bits 8 and 9 of the place of values 32i+8j to 32i+8j+7
//	74  scales  [8]byte    scales[s]: low nibble sub-block 2s, high nibble 2s+1
//
// value = (d·(scale + ½)·¼)·±q, q being 8, 25 or 43

var iq2sGrid = sync.OnceValue(func() *[1024]uint64 {
	return (*[1024]uint64)(spreadGrid(iq2sEntries[:], gridLevels))
})

func dequantizeIQ2S(dst []float32, src []byte) {
	grid := iq2sGrid()
	var q [16]byte
	for ; len(src) >= 82; dst, src = dst[256:], src[82:] {
		d, qs, signs, qh := half(src), src[2:34], src[34:66], src[66:74]
		for s := range 16 {
			for l := range 2 {
				k := 2*s + l
				entry := uint(qs[k]) | uint(qh[k/4])>>(k%4*2)&3<<8
				binary.LittleEndian.PutUint64(q[8*l:], negate(grid[entry], signs[k]))
			}
			scale16((*[16]float32)(dst[16*s:]), &q, scaleIQ2(d, src[74:], s))
		}
	}
}

func quantizeIQ2S(dst []byte, src, importance []float32) {
	g := grid{entries: iq2sEntries[:], levels: iq2Levels, bits: 2, sub: 16, factor: 0.25}
	for ; len(src) >= 256; dst, src, importance = dst[82:], src[256:], importance[256:] {
		b := g.encode(src[:256], importance[:256])
		putHalf(dst, b.d)
		copy(dst[34:66], b.signs[:])
		clear(dst[66:74])
		for k := range 32 {
			dst[2+k] = byte(b.entries[k])
			dst[66+k/4] |= byte(b.entries[k]>>8) << (k % 4 * 2)
		}
		packNibbles(dst[74:82], b.scales[:])
	}
}
