package tokenizer

import (
	"hash/maphash"
	"math/bits"
	"unicode/utf8"
)

// joinFilter remembers between which characters two pieces can ever be joined.
// Everywhere else a run may be cut without changing its tokens, which keeps
// the work small and local. It is a filter with one hash: a collision makes a
// run longer than it had to be, never wrong.
type joinFilter struct {
	bits   []uint64
	factor uint64
	shift  int
}

const (
	minFilterBits = 1 << 10
	maxFilterBits = 1 << 22
)

// newJoinFilter makes room for about n joins.
func newJoinFilter(n int) *joinFilter {
	size := min(max(tableSize(4*n), minFilterBits), maxFilterBits)
	return &joinFilter{
		bits:   make([]uint64, size/64),
		factor: maphash.String(maphash.MakeSeed(), "") | 1,
		shift:  64 - log2(size),
	}
}

func log2(powerOfTwo int) int { return bits.TrailingZeros(uint(powerOfTwo)) }

func (s *joinFilter) index(last, first rune) uint64 {
	return (uint64(last)<<32 | uint64(first)) * s.factor >> s.shift
}

func (s *joinFilter) addRunes(last, first rune) {
	i := s.index(last, first)
	s.bits[i/64] |= 1 << (i % 64)
}

// add notes that left and right can be joined.
func (s *joinFilter) add(left, right string) {
	last, _ := utf8.DecodeLastRuneInString(left)
	first, _ := utf8.DecodeRuneInString(right)
	s.addRunes(last, first)
}

// addWithin notes every join inside a piece.
func (s *joinFilter) addWithin(piece string) {
	previous := rune(-1)
	for _, r := range piece {
		if previous >= 0 {
			s.addRunes(previous, r)
		}
		previous = r
	}
}

// has says whether pieces may be joined between these two characters.
func (s *joinFilter) has(last, first rune) bool {
	i := s.index(last, first)
	return s.bits[i/64]&(1<<(i%64)) != 0
}
