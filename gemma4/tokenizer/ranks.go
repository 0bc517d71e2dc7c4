package tokenizer

import (
	"fmt"
	"hash/maphash"
	"math"
	"strings"
)

// ranks orders the joining of two neighbouring symbols: the lowest goes first.
type ranks interface {
	// rank is the order of joining left and right, if they can be joined.
	rank(run string, left, right symbol) (uint32, bool)
	// join is the piece that they make, if that still is their rank.
	join(run string, rank uint32, left, right symbol) (int32, bool)
}

// mergeRanks has the pairs of a file's merges; a merge's index is its rank.
type mergeRanks struct {
	pairs  []uint64 // left<<32 | right
	joined []int32
	slots  []uint32 // rank+1, 0 for free; a power of two, at most half full
	factor uint64   // odd and random, so that no file can be made of collisions
	shift  int
}

func newMergeRanks(merges []string, known *pieces, matchable func(int32) bool, joins *joinFilter,
	between func()) (*mergeRanks, error) {
	size := tableSize(len(merges))
	m := &mergeRanks{
		pairs:  make([]uint64, 0, len(merges)),
		joined: make([]int32, 0, len(merges)),
		slots:  make([]uint32, size),
		factor: maphash.String(maphash.MakeSeed(), "") | 1,
		shift:  64 - log2(size),
	}
	reader := mergeReader{known: known}
	for from := 0; from < len(merges); from += mergeBatch {
		if from%mergesBetween == 0 {
			between()
		}
		batch := merges[from:min(from+mergeBatch, len(merges))]
		if err := reader.read(batch, from); err != nil {
			return nil, err
		}
		for i, id := range reader.joined[:len(batch)] {
			if slot, taken := m.find(reader.pairs[i]); !taken && matchable(id) {
				m.slots[slot] = uint32(len(m.pairs)) + 1
				m.pairs = append(m.pairs, reader.pairs[i])
				m.joined = append(m.joined, id)
			}
		}
		for i, merge := range batch {
			if matchable(reader.joined[i]) {
				joins.add(merge[:reader.space[i]], merge[reader.space[i]+1:])
			}
		}
	}
	return m, nil
}

// mergeBatch merges go through one step after the other together, because a processor
// waits for the memory of several where they stand close.
const mergeBatch = 128

// mergesBetween take some two milliseconds in a browser.
const mergesBetween = 64 * mergeBatch

// mergeReader finds the pieces of merges.
type mergeReader struct {
	known       *pieces
	start       [mergeBatch]int // all 0
	space       [mergeBatch]int // where the left piece ends
	next        [mergeBatch]int // where the right one begins
	end         [mergeBatch]int
	left, right [mergeBatch]int32
	joined      [mergeBatch]int32
	pairs       [mergeBatch]uint64
	last        int32 // made by the merge before
}

// read looks up merges, the first of which is number first.
func (r *mergeReader) read(merges []string, first int) error {
	for i, merge := range merges {
		r.end[i] = len(merge)
		r.space[i] = max(strings.IndexByte(merge, ' '), 0)
		r.next[i] = min(r.space[i]+1, r.end[i])
	}
	r.known.idsOf(merges, r.start[:], r.space[:], r.left[:])
	r.known.idsOf(merges, r.next[:], r.end[:], r.right[:])
	for i, merge := range merges {
		at, ok := r.space[i], true
		r.pairs[i] = pairOf(r.left[i], r.right[i])
		if at == 0 || r.left[i] == None || r.right[i] == None {
			if r.pairs[i], at, ok = splitMerge(merge, r.known); !ok {
				return fmt.Errorf("%w: merge %d, %.40q, is not two pieces with a space between", ErrVocabulary, first+i,
					merge)
			}
			r.space[i] = at
		}
		left, right := merge[:at], merge[at+1:]
		if r.last, ok = r.known.joined(left, right, r.last); !ok {
			return fmt.Errorf("%w: merge %d makes %.40q, which is no piece", ErrVocabulary, first+i, left+right)
		}
		r.joined[i] = r.last
	}
	return nil
}

// splitMerge cuts a merge at the space that leaves two known pieces.
func splitMerge(merge string, known *pieces) (pair uint64, at int, ok bool) {
	for from := 1; from < len(merge); from = at + 1 {
		space := strings.IndexByte(merge[from:], ' ')
		if space < 0 {
			break
		}
		at = from + space
		left, okLeft := known.id(merge[:at])
		right, okRight := known.id(merge[at+1:])
		if okLeft && okRight {
			return pairOf(left, right), at, true
		}
	}
	return 0, 0, false
}

func pairOf(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

func (m *mergeRanks) find(pair uint64) (slot int, taken bool) {
	slot = int(pair * m.factor >> m.shift)
	for m.slots[slot] != 0 {
		if m.pairs[m.slots[slot]-1] == pair {
			return slot, true
		}
		slot = (slot + 1) & (len(m.slots) - 1)
	}
	return slot, false
}

func (m *mergeRanks) rank(_ string, left, right symbol) (uint32, bool) {
	slot, ok := m.find(pairOf(left.id, right.id))
	return m.slots[slot] - 1, ok
}

func (m *mergeRanks) join(_ string, rank uint32, left, right symbol) (int32, bool) {
	return m.joined[rank], m.pairs[rank] == pairOf(left.id, right.id)
}

// scoreRanks is for files without merges: any two neighbours join that make a
// piece together, the one with the highest score first (SentencePiece's BPE).
type scoreRanks struct {
	known     *pieces
	scores    []float32
	matchable func(int32) bool
	longest   int32 // bytes of the longest piece
}

func newScoreRanks(scores []float32, known *pieces, matchable func(int32) bool, joins *joinFilter) *scoreRanks {
	s := &scoreRanks{known: known, scores: scores, matchable: matchable}
	for id := range int32(known.len()) {
		if !matchable(id) {
			continue
		}
		text := known.of(id)
		s.longest = max(s.longest, int32(min(len(text), math.MaxInt32)))
		joins.addWithin(text)
	}
	return s
}

func (s *scoreRanks) rank(run string, left, right symbol) (uint32, bool) {
	id, ok := s.piece(run, left, right)
	if !ok {
		return 0, false
	}
	return descending(s.scores[id]), true
}

func (s *scoreRanks) join(run string, rank uint32, left, right symbol) (int32, bool) {
	id, ok := s.piece(run, left, right)
	return id, ok && descending(s.scores[id]) == rank
}

func (s *scoreRanks) piece(run string, left, right symbol) (int32, bool) {
	if right.end-left.start > s.longest {
		return 0, false
	}
	id, ok := s.known.id(run[left.start:right.end])
	return id, ok && s.matchable(id)
}

// descending maps scores to integers that order the other way round.
func descending(score float32) uint32 {
	b := math.Float32bits(score + 0) // +0 makes -0 the same as 0
	if b>>31 != 0 {
		return b
	}
	return ^b &^ (1 << 31)
}
