package tokenizer

import (
	"hash/maphash"
	"math/bits"
	"unicode/utf8"
)

// seams remembers between which characters two pieces can ever be joined.
// Everywhere else a run may be cut without changing its tokens, which keeps
// the work small and near. It is a filter with one hash: a collision makes a
// run longer than it had to be, never wrong.
type seams struct {
	bits   []uint64
	factor uint64
	shift  int
}

const (
	minSeamBits = 1 << 10
	maxSeamBits = 1 << 22
)

// newSeams makes room for about n seams.
func newSeams(n int) *seams {
	size := min(max(tableSize(4*n), minSeamBits), maxSeamBits)
	return &seams{
		bits:   make([]uint64, size/64),
		factor: maphash.String(maphash.MakeSeed(), "") | 1,
		shift:  64 - log2(size),
	}
}

func log2(powerOfTwo int) int { return bits.TrailingZeros(uint(powerOfTwo)) }

func (s *seams) index(last, first rune) uint64 {
	return (uint64(last)<<32 | uint64(first)) * s.factor >> s.shift
}

func (s *seams) addRunes(last, first rune) {
	i := s.index(last, first)
	s.bits[i/64] |= 1 << (i % 64)
}

// add notes that left and right can be joined.
func (s *seams) add(left, right string) {
	last, _ := utf8.DecodeLastRuneInString(left)
	first, _ := utf8.DecodeRuneInString(right)
	s.addRunes(last, first)
}

// addWithin notes every seam inside a piece.
func (s *seams) addWithin(piece string) {
	previous := rune(-1)
	for _, r := range piece {
		if previous >= 0 {
			s.addRunes(previous, r)
		}
		previous = r
	}
}

// joins says whether pieces may be joined between these two characters.
func (s *seams) joins(last, first rune) bool {
	i := s.index(last, first)
	return s.bits[i/64]&(1<<(i%64)) != 0
}
