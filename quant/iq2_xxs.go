package quant

import (
	"encoding/binary"
	"sync"
)

// IQ2_XXS: 256 values in 66 bytes, sub-blocks of 32.
//
//	0  d   float16
//	2  qs  [8][8]byte   for each sub-block
//
// The eight bytes of a sub-block, for l < 4 and values 8l to 8l+7:
//
//	0  entry  [4]byte   entry[l]: the values' place in the codebook
//	4  word   uint32    bits 7l to 7l+6: the signs of the first seven values, of which the eighth follows (evenSigns);
//	                    bits 28–31: scale
//
// value = (d·(scale + ½)·¼)·±q, q being 8, 25 or 43

// gridLevels are those of IQ2's codebooks.
var gridLevels = [4]byte{8, 25, 43}

var iq2xxsGrid = sync.OnceValue(func() *[256]uint64 {
	return (*[256]uint64)(spreadGrid(iq2xxsEntries[:], gridLevels))
})

func dequantizeIQ2XXS(dst []float32, src []byte) {
	grid := iq2xxsGrid()
	var q [32]byte
	for ; len(src) >= 66; dst, src = dst[256:], src[66:] {
		d := half(src)
		for s := range 8 {
			entry, word := src[2+8*s:], binary.LittleEndian.Uint32(src[6+8*s:])
			for l := range 4 {
				binary.LittleEndian.PutUint64(q[8*l:], negate(grid[entry[l]], evenSigns[word>>(7*l)&127]))
			}
			scale32((*[32]float32)(dst[32*s:]), &q, d*(0.5+float32(word>>28))*0.25)
		}
	}
}

// iq2Levels are gridLevels as numbers.
var iq2Levels = []float32{8, 25, 43}

func quantizeIQ2XXS(dst []byte, src, importance []float32) {
	g := grid{entries: iq2xxsEntries[:], levels: iq2Levels, bits: 2, sub: 32, even: true, factor: 0.25}
	for ; len(src) >= 256; dst, src, importance = dst[66:], src[256:], importance[256:] {
		b := g.encode(src[:256], importance[:256])
		putHalf(dst, b.d)
		for s := range 8 {
			word := uint32(b.scales[s]) << 28
			for l := range 4 {
				dst[2+8*s+l] = byte(b.entries[4*s+l])
				word |= uint32(b.signs[4*s+l]&127) << (7 * l)
			}
			binary.LittleEndian.PutUint32(dst[6+8*s:], word)
		}
	}
}
