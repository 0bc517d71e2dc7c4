package tokenizer

import (
	"fmt"
	"hash/maphash"
	"math/bits"
)

// pieces finds a piece's id by its text: open addressing over ids, a sixth of
// what a map of strings would take.
type pieces struct {
	tokens []string
	slots  []int32 // id+1, 0 for free; a power of two, at most half full
	seed   maphash.Seed
}

func newPieces(tokens []string) (*pieces, error) {
	p := &pieces{
		tokens: tokens,
		slots:  make([]int32, tableSize(len(tokens))),
		seed:   maphash.MakeSeed(),
	}
	for id, text := range tokens {
		slot, taken := p.find(text)
		if taken {
			return nil, fmt.Errorf("%w: pieces %d and %d are both %.40q", ErrVocabulary, p.slots[slot]-1, id, text)
		}
		p.slots[slot] = int32(id) + 1
	}
	return p, nil
}

// find is the slot of text, or the free one where it would stand.
func (p *pieces) find(text string) (slot int, taken bool) {
	mask := len(p.slots) - 1
	slot = int(maphash.String(p.seed, text)) & mask
	for p.slots[slot] != 0 {
		if p.tokens[p.slots[slot]-1] == text {
			return slot, true
		}
		slot = (slot + 1) & mask
	}
	return slot, false
}

// id is the piece with this text.
func (p *pieces) id(text string) (int32, bool) {
	slot, ok := p.find(text)
	return p.slots[slot] - 1, ok
}

// tableSize is the power of two that n entries fill at most half.
func tableSize(n int) int { return 1 << bits.Len(uint(2*n)) }
