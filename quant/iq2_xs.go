package quant

import (
	"encoding/binary"
	"sync"
)

// IQ2_XS: 256 values in 74 bytes, sub-blocks of 16.
//
//	 0  d       float16
//	 2  qs      [32]uint16   for values 8k to 8k+7: bits 0–8 their place in the codebook, bits 9–15 the signs of
//	                         the first seven, of which the eighth follows (evenSigns)
//	66  scales  [8]byte      scales[s]: low nibble sub-block 2s, high nibble 2s+1
//
// value = (d·(scale + ½)·¼)·±q, q being 8, 25 or 43

var iq2xsGrid = sync.OnceValue(func() *[512]uint64 {
	return (*[512]uint64)(spreadGrid(iq2xsEntries[:], gridLevels))
})

func dequantizeIQ2XS(dst []float32, src []byte) {
	grid := iq2xsGrid()
	var q [16]byte
	for ; len(src) >= 74; dst, src = dst[256:], src[74:] {
		d := half(src)
		for s := range 16 {
			for l := range 2 {
				word := binary.LittleEndian.Uint16(src[2+4*s+2*l:])
				binary.LittleEndian.PutUint64(q[8*l:], negate(grid[word&511], evenSigns[word>>9]))
			}
			scale16((*[16]float32)(dst[16*s:]), &q, scaleIQ2(d, src[66:], s))
		}
	}
}

// scaleIQ2 returns what the levels of sub-block s of IQ2_XS or IQ2_S are multiplied by.
func scaleIQ2(d float32, scales []byte, s int) float32 {
	return d * (0.5 + float32(scales[s/2]>>(s%2*4)&15)) * 0.25
}

func quantizeIQ2XS(dst []byte, src, importance []float32) {
	g := grid{entries: iq2xsEntries[:], levels: iq2Levels, bits: 2, sub: 16, even: true, factor: 0.25}
	for ; len(src) >= 256; dst, src, importance = dst[74:], src[256:], importance[256:] {
		b := g.encode(src[:256], importance[:256])
		putHalf(dst, b.d)
		for k := range 32 {
			binary.LittleEndian.PutUint16(dst[2+2*k:], b.entries[k]|uint16(b.signs[k]&127)<<9)
		}
		packNibbles(dst[66:74], b.scales[:])
	}
}

// packNibbles writes two scales a byte, the first one low.
func packNibbles(packed, scales []byte) {
	for i := range packed {
		packed[i] = scales[2*i] | scales[2*i+1]<<4
	}
}
