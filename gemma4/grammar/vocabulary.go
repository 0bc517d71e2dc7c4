package grammar

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
)

// Limits of a vocabulary: ids fit 24 bits, and so do the nodes of its trie.
const (
	maxTokens     = 1 << 24
	maxTokenBytes = 1 << 12
	maxTrieBytes  = 1 << 28
)

// Vocabulary is the set of tokens that constraints are compiled for. It does not change; any number of constraints and
// goroutines may share it.
type Vocabulary struct {
	pieces [][]byte
	ends   []int32
	trie   []trieNode
	twins  map[int32][]int32 // further tokens of the same bytes, by the first of them
	depth  int               // bytes of the longest token

	controls []int32 // tokens that stand for a marker, by marker; none if calls are not known

	base      *regexes // terminals that every JSON grammar shares, complete when the vocabulary is made
	terms     baseTerms
	lineTerms baseTerms // with a space behind comma and colon
	callTerms baseTerms
	freeText  symbol
	strings   []regexID   // states within strings, which other states are like
	below     [256]uint32 // nodes of the trie that begin with a byte
	once      []sync.Once // by state of base: its local mask is made
	local     []*localMask
}

// trieNode is a node of the trie in depth-first order: its subtree is the nodes up to skip.
type trieNode struct {
	skip  uint32
	token int32 // the first token that ends here, or -1
	depth uint16
	byte  byte
	twins bool // more tokens end here
}

// NewVocabulary makes a vocabulary. pieces[id] holds the bytes that a token stands for in the text; it is nil or empty
// for tokens that are no text (control tokens, unused ones), which no constraint allows. ends are the tokens
// that may end
// an answer. The pieces are not copied and must not change.
//
// Pieces with bytes that UTF-8 never has (above 0xF4, as single bytes of a vocabulary may be) fit no form.
func NewVocabulary(pieces [][]byte, ends []int) (*Vocabulary, error) {
	return newVocabulary(pieces, ends, nil)
}

func newVocabulary(pieces [][]byte, ends []int, controls []int32) (*Vocabulary, error) {
	if len(pieces) == 0 || len(pieces) > maxTokens {
		return nil, fmt.Errorf("%w: it has %d pieces; give 1 to %d", ErrVocabulary, len(pieces), maxTokens)
	}
	v := &Vocabulary{pieces: pieces, controls: controls, twins: map[int32][]int32{}}
	total := 0
	for id, p := range pieces {
		total += len(p)
		if len(p) > maxTokenBytes || total > maxTrieBytes {
			return nil, fmt.Errorf("%w: piece %d has %d bytes, too many", ErrVocabulary, id, len(p))
		}
		v.depth = max(v.depth, len(p))
	}
	for _, id := range ends {
		if id < 0 || id >= len(pieces) {
			return nil, fmt.Errorf("%w: end token %d is not one of its %d pieces", ErrVocabulary, id, len(pieces))
		}
		v.ends = append(v.ends, int32(id))
	}
	v.buildTrie()
	v.buildBase()
	return v, nil
}

// Len is the number of tokens.
func (v *Vocabulary) Len() int { return len(v.pieces) }

// Words is the length of a mask in words of 32 bits.
func (v *Vocabulary) Words() int { return (len(v.pieces) + 31) / 32 }

// piece is the bytes that a token is walked by: its text, or the marker that it stands for; none where no form
// allows it.
func (v *Vocabulary) piece(token int32) []byte {
	if i := v.marker(token); i >= 0 {
		return markerBytes[i : i+1]
	}
	if p := v.pieces[token]; !slices.ContainsFunc(p, isMarker) {
		return p
	}
	return nil
}

// marker is the place of a token's marker, -1 if it has none.
func (v *Vocabulary) marker(token int32) int { return slices.Index(v.controls, token) }

// isEnd tells whether a token may end an answer.
func (v *Vocabulary) isEnd(token int32) bool { return slices.Contains(v.ends, token) }

// buildTrie lays the sorted pieces out in depth-first order.
func (v *Vocabulary) buildTrie() {
	order := make([]int32, 0, len(v.pieces))
	for id, p := range v.pieces {
		if len(p) > 0 && !v.isEnd(int32(id)) && !slices.ContainsFunc(p, isMarker) && v.marker(int32(id)) < 0 {
			order = append(order, int32(id))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := bytes.Compare(v.pieces[a], v.pieces[b]); c != 0 {
			return c
		}
		return int(a - b)
	})
	for _, id := range v.controls { // markers are above all bytes of text
		if !v.isEnd(id) {
			order = append(order, id)
		}
	}
	path := []uint32{} // nodes above, by depth
	var last []byte
	for _, id := range order {
		p := v.piece(id)
		if len(last) > 0 && bytes.Equal(p, last) {
			node := &v.trie[len(v.trie)-1]
			node.twins = true
			v.twins[node.token] = append(v.twins[node.token], id)
			continue
		}
		same := 0
		for same < len(last) && same < len(p) && last[same] == p[same] {
			same++
		}
		v.closeNodes(path[same:])
		path = path[:same]
		for i := same; i < len(p); i++ {
			path = append(path, uint32(len(v.trie)))
			v.trie = append(v.trie, trieNode{token: -1, depth: uint16(i), byte: p[i]})
		}
		v.trie[len(v.trie)-1].token = id
		last = p
	}
	v.closeNodes(path)
	v.trie = slices.Clip(v.trie)
	for i := uint32(0); i < uint32(len(v.trie)); i = v.trie[i].skip {
		v.below[v.trie[i].byte] = v.trie[i].skip - i
	}
}

func (v *Vocabulary) closeNodes(nodes []uint32) {
	for _, n := range nodes {
		v.trie[n].skip = uint32(len(v.trie))
	}
}
