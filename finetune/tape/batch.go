package tape

import (
	"errors"
	"fmt"
)

// ErrBatch says that a batch cannot be computed.
var ErrBatch = errors.New("unusable training batch")

// Token is one position: a token of the vocabulary, or a soft token.
type Token struct {
	ID   int32
	Soft []float32 // [d], instead of the embedding of ID; nil for a token
	// Image is the number of the image that a soft token belongs to, from 1 on;
	// 0 for text and audio.
	Image int
}

// NoTarget marks a position of which nothing is asked.
const NoTarget = -1

// Example is one text. Target i is the token that should follow position i, or
// NoTarget.
type Example struct {
	Tokens  []Token
	Targets []int32
}

// Batch is what one pass computes: examples one behind the other, none of which
// sees another.
type Batch struct {
	Tokens  []Token
	Targets []int32
	start   []int // for each position, where its example begins
	end     []int // for each position, where what it sees ahead ends: its image
	Asked   []int // the positions that have a target
}

// NewBatch lays examples one behind the other. Soft tokens of one image see each
// other where seeImages says so.
func NewBatch(examples []Example, seeImages bool) (*Batch, error) {
	b := new(Batch)
	for i, e := range examples {
		if len(e.Tokens) == 0 || len(e.Targets) != len(e.Tokens) {
			return nil, fmt.Errorf("%w: example %d has %d tokens and %d targets", ErrBatch, i, len(e.Tokens), len(e.Targets))
		}
		b.add(e, seeImages)
	}
	if len(b.Tokens) == 0 {
		return nil, fmt.Errorf("%w: no examples", ErrBatch)
	}
	return b, nil
}

func (b *Batch) add(e Example, seeImages bool) {
	first := len(b.Tokens)
	b.Tokens = append(b.Tokens, e.Tokens...)
	b.Targets = append(b.Targets, e.Targets...)
	for i := range e.Tokens {
		b.start = append(b.start, first)
		b.end = append(b.end, first+i+1)
		if e.Targets[i] != NoTarget {
			b.Asked = append(b.Asked, first+i)
		}
	}
	if !seeImages {
		return
	}
	for i := len(e.Tokens) - 2; i >= 0; i-- {
		if image := e.Tokens[i].Image; image != 0 && image == e.Tokens[i+1].Image {
			b.end[first+i] = b.end[first+i+1]
		}
	}
}

// Len is the number of positions, of all examples together.
func (b *Batch) Len() int { return len(b.Tokens) }

// Position is where row t stands in its own example.
func (b *Batch) Position(t int) int { return t - b.start[t] }

// Visible returns the rows first ≤ j < end that row t sees. window is 0 in global
// layers, where images are causal like text.
func (b *Batch) Visible(t, window int) (first, end int) {
	if window == 0 {
		return b.start[t], t + 1
	}
	return max(b.start[t], t-window+1), b.end[t]
}
