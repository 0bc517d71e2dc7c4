package quant

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/x448/float16"
)

// maxHalf is the largest finite float16.
const maxHalf = 65504

// halfToFloat32 returns the value of a float16 bit pattern.
//
// The magnitude's bits, moved into a float32's place, are the value times 2^-112 (15 and 127 being the
// exponents' biases), which holds for subnormals too. Infinities and NaN keep their all-ones exponent.
func halfToFloat32(h uint16) float32 {
	const rebias = 1 << 112
	magnitude := math.Float32bits(math.Float32frombits(uint32(h&0x7fff)<<13) * rebias)
	if h&0x7c00 == 0x7c00 {
		magnitude |= 0x7f800000
	}
	return math.Float32frombits(magnitude | uint32(h&0x8000)<<16)
}

// halves returns the values of all float16, for decoding many: a table four times as fast as computing, made
// at first use.
var halves = sync.OnceValue(func() *[1 << 16]float32 {
	table := new([1 << 16]float32)
	for h := range table {
		table[h] = halfToFloat32(uint16(h))
	}
	return table
})

// half returns the value of the float16 that starts p.
func half(p []byte) float32 { return halfToFloat32(binary.LittleEndian.Uint16(p)) }

// putHalf writes v as a float16, rounded to nearest even, at the start of p.
func putHalf(p []byte, v float32) { binary.LittleEndian.PutUint16(p, halfFromFloat32(v)) }

// halfFromFloat32 rounds to nearest even, overflowing to infinity and keeping NaN. Magnitudes that are normal
// in both formats, all but a few of a model's, take the short way: a rebiased exponent, and half of what is
// cut off added, less one bit where the last bit kept is even.
func halfFromFloat32(v float32) uint16 {
	bits := math.Float32bits(v)
	magnitude := bits &^ (1 << 31)
	const smallest, above = (127 - 14) << 23, (127 + 16) << 23
	if magnitude < smallest || magnitude >= above {
		return float16.Fromfloat32(v).Bits()
	}
	rounded := magnitude - (127-15)<<23 + 0xfff + magnitude>>13&1
	return uint16(bits>>16&0x8000 | rounded>>13)
}
