package quant

import (
	"encoding/binary"
	"sync"
)

// IQ3_XXS: 256 values in 98 bytes, sub-blocks of 32.
//
//	 0  d      float16
//	 2  qs     [64]byte     qs[k]: the place in the codebook of values 4k to 4k+3
//	66  words  [8]uint32    words[s], bits 7l to 7l+6 for l < 4: the signs of the first seven of values 32s+8l to
//	                        32s+8l+7, of which the eighth follows (evenSigns); bits 28–31: scale of sub-block s
//
// value = (d·(scale + ½)·½)·±q, q being 4, 12, 20, 28, 36, 44, 52 or 62

var iq3xxsGrid = sync.OnceValue(func() *[256]uint32 {
	return (*[256]uint32)(spreadHalfGrid(iq3xxsEntries[:], [8]byte{4, 12, 20, 28, 36, 44, 52, 62}))
})

func dequantizeIQ3XXS(dst []float32, src []byte) {
	grid := iq3xxsGrid()
	var q [32]byte
	for ; len(src) >= 98; dst, src = dst[256:], src[98:] {
		d := half(src)
		for s := range 8 {
			entry, word := src[2+8*s:], binary.LittleEndian.Uint32(src[66+4*s:])
			for l := range 4 {
				levels := uint64(grid[entry[2*l]]) | uint64(grid[entry[2*l+1]])<<32
				binary.LittleEndian.PutUint64(q[8*l:], negate(levels, evenSigns[word>>(7*l)&127]))
			}
			scale32((*[32]float32)(dst[32*s:]), &q, d*(0.5+float32(word>>28))*0.5)
		}
	}
}

func quantizeIQ3XXS(dst []byte, src, importance []float32) {
	g := grid{
		entries: iq3xxsEntries[:], levels: []float32{4, 12, 20, 28, 36, 44, 52, 62},
		bits: 3, sub: 32, even: true, factor: 0.5,
	}
	for ; len(src) >= 256; dst, src, importance = dst[98:], src[256:], importance[256:] {
		b := g.encode(src[:256], importance[:256])
		putHalf(dst, b.d)
		for k := range 64 {
			dst[2+k] = byte(b.entries[k])
		}
		for s := range 8 {
			word := uint32(b.scales[s]) << 28
			for l := range 4 {
				word |= uint32(b.signs[4*s+l]&127) << (7 * l)
			}
			binary.LittleEndian.PutUint32(dst[66+4*s:], word)
		}
	}
}
