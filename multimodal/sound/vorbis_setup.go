//go:build !js

package sound

import (
	"fmt"
	"math"
	"math/bits"
)

// The decoder of Vorbis believes the tables in a stream's third packet: they can
// make it ask for gigabytes or turn in a circle for ever. checkVorbisSetup
// reads them before it does, as far as they can do harm.
//
// The layout is that of the Vorbis I specification, section 4.2.4.
func checkVorbisSetup(packet []byte) error {
	const prefix = 7 // 5, "vorbis"
	r := &bitReader{data: packet[min(prefix, len(packet)):]}
	values := 0
	for range r.read(8) + 1 {
		n, ok := r.codebook()
		values += n
		if !ok || values > maxVorbisValues {
			return fmt.Errorf("sound: Vorbis: an unusable codebook: %w", ErrDamaged)
		}
	}
	for range r.read(6) + 1 { // kept for later versions
		r.skip(16)
	}
	for range r.read(6) + 1 {
		if kind := r.read(16); kind == 0 {
			return fmt.Errorf("sound: Vorbis with floors of type 0: %w", ErrFormat)
		}
		if !r.floor1() {
			return fmt.Errorf("sound: Vorbis with floors of no partitions, as for loudspeakers of bass: %w", ErrFormat)
		}
	}
	for range r.read(6) + 1 {
		if !r.residue() {
			return fmt.Errorf("sound: Vorbis: an unusable residue: %w", ErrDamaged)
		}
	}
	if r.short {
		return fmt.Errorf("sound: Vorbis: the setup ends too early: %w", ErrDamaged)
	}
	return nil
}

const (
	maxVorbisEntries = 1 << 16 // of a codebook; encoders use some thousands
	maxVorbisValues  = 1 << 22 // of all together
)

// codebook reads one and returns how many values it holds.
func (r *bitReader) codebook() (values int, ok bool) {
	const mark = 0x564342 // "BCV"
	if r.read(24) != mark {
		return 0, false
	}
	dimensions, entries := int(r.read(16)), int(r.read(24))
	values = dimensions * entries
	if dimensions == 0 || entries == 0 || entries > maxVorbisEntries || values > maxVorbisValues {
		return 0, false
	}
	if ordered := r.read(1) == 1; ordered && !r.orderedLengths(entries) || !ordered && !r.lengths(entries) {
		return 0, false
	}
	switch r.read(4) {
	case 0:
		return values, !r.short
	case 1:
		values = int(math.Floor(math.Pow(float64(entries), 1/float64(dimensions)))) // as the decoder reckons
	case 2:
	default:
		return 0, false
	}
	r.skip(32 + 32)
	width := int(r.read(4)) + 1
	r.skip(1 + values*width)
	return dimensions * entries, !r.short
}

// lengths reads those of the code words, and wants one word at least: in a tree
// without leaves nothing is ever found.
func (r *bitReader) lengths(entries int) bool {
	sparse, used := r.read(1) == 1, 0
	for range entries {
		if !sparse || r.read(1) == 1 {
			r.skip(5)
			used++
		}
	}
	return used > 0 && !r.short
}

// orderedLengths reads how many words there are of each length.
func (r *bitReader) orderedLengths(entries int) bool {
	const longest = 32
	for length := r.read(5) + 1; entries > 0; length++ {
		entries -= int(r.read(bits.Len(uint(entries))))
		if length > longest || r.short {
			return false
		}
	}
	return entries == 0
}

// floor1 reads one; false stands for one without partitions, of which the decoder
// reads too much.
func (r *bitReader) floor1() bool {
	classOf := make([]uint32, r.read(5))
	if len(classOf) == 0 {
		return false
	}
	classes := uint32(0)
	for i := range classOf {
		classOf[i] = r.read(4)
		classes = max(classes, classOf[i]+1)
	}
	var dimensions [16]int
	for c := range classes {
		dimensions[c] = int(r.read(3)) + 1
		subclass := int(r.read(2))
		if subclass > 0 {
			r.skip(8)
		}
		r.skip(8 << subclass)
	}
	r.skip(2)
	width := int(r.read(4))
	for _, c := range classOf {
		r.skip(dimensions[c] * width)
	}
	return true
}

// residue reads one, whose end must not come before its beginning.
func (r *bitReader) residue() bool {
	r.skip(16)
	begin, end := r.read(24), r.read(24)
	r.skip(24)
	classes := int(r.read(6)) + 1
	r.skip(8)
	books := 0
	for range classes {
		cascade := r.read(3)
		if r.read(1) == 1 {
			cascade |= r.read(5) << 3
		}
		books += bits.OnesCount32(cascade)
	}
	r.skip(8 * books)
	return begin <= end && !r.short
}

// A bitReader reads numbers from the lowest bit of each byte on. Behind the end it
// reads zeros.
type bitReader struct {
	data  []byte
	at    int // in bits
	short bool
}

func (r *bitReader) read(n int) uint32 {
	var v uint32
	for i := range n {
		if r.at >= 8*len(r.data) {
			r.short = true
			return 0
		}
		v |= uint32(r.data[r.at/8]>>(r.at%8)&1) << i
		r.at++
	}
	return v
}

func (r *bitReader) skip(n int) {
	if r.at += n; r.at > 8*len(r.data) {
		r.at, r.short = 8*len(r.data), true
	}
}
