package tokenizer

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"strings"
)

// pieces finds a piece's id by its text: open addressing over ids, a sixth of
// what a map of strings would take. Its tables hold no pointers: a garbage collector
// that has only one thread, as in a browser, would stop all else to follow them.
type pieces struct {
	text   string   // of all pieces, one behind the other
	bounds []uint32 // piece id is text[bounds[id]:bounds[id+1]]
	slots  []uint32 // a power of two, at most half full
	ids    uint32   // the bits of a slot that hold id+1, 0 for free; the others are of the text's hash
	seed   maphash.Seed
}

// newPieces indexes tokens. joined may be the same texts one behind the other.
func newPieces(tokens []string, joined string) (*pieces, error) {
	p := &pieces{
		slots: make([]uint32, tableSize(len(tokens))),
		ids:   1<<bits.Len(uint(len(tokens))) - 1,
		seed:  maphash.MakeSeed(),
	}
	if err := p.store(tokens, joined); err != nil {
		return nil, err
	}
	for id, text := range tokens {
		slot, mark, taken := p.find(text)
		if taken {
			return nil, fmt.Errorf("%w: pieces %d and %d are both %.40q", ErrVocabulary, p.at(slot), id, text)
		}
		p.slots[slot] = mark | uint32(id+1)
	}
	return p, nil
}

// store keeps the texts: joined, where that is what they are, or a copy.
func (p *pieces) store(tokens []string, joined string) error {
	p.bounds = make([]uint32, 1, len(tokens)+1)
	size, same := 0, true
	for _, text := range tokens {
		same = same && strings.HasPrefix(joined[size:], text)
		if size += len(text); uint64(size) > math.MaxUint32 {
			return fmt.Errorf("%w: its pieces are more than 4 GB of text", ErrVocabulary)
		}
		p.bounds = append(p.bounds, uint32(size))
	}
	if p.text = joined; !same {
		p.text = strings.Join(tokens, "")
	}
	return nil
}

// of is the text of a piece.
func (p *pieces) of(id int32) string { return p.text[p.bounds[id]:p.bounds[id+1]] }

// len is how many pieces there are.
func (p *pieces) len() int { return len(p.bounds) - 1 }

// find is the slot of text, or the free one where it would stand, and the mark of
// its hash there: most other texts are told by theirs, without being looked at.
func (p *pieces) find(text string) (slot int, mark uint32, taken bool) {
	hash := maphash.String(p.seed, text)
	mark = uint32(hash>>32) &^ p.ids
	mask := len(p.slots) - 1
	slot = int(hash) & mask
	for p.slots[slot] != 0 {
		if p.slots[slot]&^p.ids == mark && p.of(p.at(slot)) == text {
			return slot, mark, true
		}
		slot = (slot + 1) & mask
	}
	return slot, mark, false
}

// at is the piece in a slot, None in a free one.
func (p *pieces) at(slot int) int32 { return int32(p.slots[slot]&p.ids) - 1 }

// id is the piece with this text.
func (p *pieces) id(text string) (int32, bool) {
	slot, _, ok := p.find(text)
	return p.at(slot), ok
}

// idsOf is id for a few parts of texts, texts[i][from[i]:to[i]], or None. Most of a look-up
// is waiting for memory, which a processor does for several at once where they stand close
// together: so all take each step before the next.
func (p *pieces) idsOf(texts []string, from, to []int, ids []int32) {
	var few [mergeBatch]uint64
	hashes, mask := few[:len(texts)], uint64(len(p.slots)-1)
	from, to, ids = from[:len(texts)], to[:len(texts)], ids[:len(texts)]
	for i, text := range texts {
		hashes[i] = maphash.String(p.seed, text[from[i]:to[i]])
	}
	for i, hash := range hashes {
		slot := p.slots[hash&mask]
		ids[i] = int32(slot&p.ids) - 1
		if slot&^p.ids != uint32(hash>>32)&^p.ids {
			ids[i] = None
		}
	}
	for i, id := range ids {
		if id != None && int(p.bounds[id+1]-p.bounds[id]) != to[i]-from[i] {
			ids[i] = None
		}
	}
	for i, id := range ids {
		if id != None && from[i] < to[i] && p.text[p.bounds[id]] != texts[i][from[i]] {
			ids[i] = None
		}
	}
	for i, text := range texts {
		part := text[from[i]:to[i]]
		if ids[i] == None || p.of(ids[i]) != part {
			ids[i], _ = p.id(part)
		}
	}
}

// joined is the piece that two texts make together. It looks at the piece hint and at
// the one behind it first: merges stand in the order of what they make.
func (p *pieces) joined(left, right string, hint int32) (int32, bool) {
	for id := hint; id < hint+2 && int(id) < p.len(); id++ {
		if text := p.of(id); len(text) == len(left)+len(right) && text[:len(left)] == left &&
			text[len(left):] == right {
			return id, true
		}
	}
	return p.id(left + right)
}

// tableSize is the power of two that n entries fill at most half.
func tableSize(n int) int { return 1 << bits.Len(uint(2*n)) }
