package quant

import (
	"encoding/binary"
	"sync"
)

// IQ3_S: 256 values in 110 bytes, sub-blocks of 32.
//
//	  0  d       float16
//	  2  qs      [64]byte   qs[k]: bits 0–7 of the place in the codebook of values 4k to 4k+3
//	 66  qh      [8]byte    bit j of qh[s]: bit 8 of the place of values 32s+4j to 32s+4j+3
//	 74  signs   [32]byte   bit i of signs[k]: value 8k+i is negative
//	106  scales  [4]byte    scales[s]: low nibble sub-block 2s, high nibble 2s+1
//
// value = (d·(2·scale + 1))·±q, q being an odd number from 1 to 15

var iq3sGrid = sync.OnceValue(func() *[512]uint32 {
	return (*[512]uint32)(spreadHalfGrid(iq3sEntries[:], [8]byte{1, 3, 5, 7, 9, 11, 13, 15}))
})

func dequantizeIQ3S(dst []float32, src []byte) {
	grid := iq3sGrid()
	var q [32]byte
	for ; len(src) >= 110; dst, src = dst[256:], src[110:] {
		d, signs, scales := half(src), src[74:106], src[106:110]
		for s := range 8 {
			entry, high := src[2+8*s:], uint(src[66+s])
			for l := range 4 {
				first := uint(entry[2*l]) | high>>(2*l)&1<<8
				second := uint(entry[2*l+1]) | high>>(2*l+1)&1<<8
				levels := uint64(grid[first]) | uint64(grid[second])<<32
				binary.LittleEndian.PutUint64(q[8*l:], negate(levels, signs[4*s+l]))
			}
			scale := scales[s/2] >> (s % 2 * 4) & 15
			scale32((*[32]float32)(dst[32*s:]), &q, d*float32(2*scale+1))
		}
	}
}

func quantizeIQ3S(dst []byte, src, importance []float32) {
	g := grid{entries: iq3sEntries[:], levels: []float32{1, 3, 5, 7, 9, 11, 13, 15}, bits: 3, sub: 32, factor: 2}
	for ; len(src) >= 256; dst, src, importance = dst[110:], src[256:], importance[256:] {
		b := g.encode(src[:256], importance[:256])
		putHalf(dst, b.d)
		clear(dst[66:74])
		for k := range 64 {
			dst[2+k] = byte(b.entries[k])
			dst[66+k/8] |= byte(b.entries[k]>>8) << (k % 8)
		}
		copy(dst[74:106], b.signs[:])
		packNibbles(dst[106:110], b.scales[:])
	}
}
