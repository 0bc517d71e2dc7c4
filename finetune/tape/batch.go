package tape

import (
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/arch"
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

// MaxShares bounds the shares of one position.
const MaxShares = 64

// Share is a token that may follow a position, and how likely that should be.
type Share struct {
	Token int32
	Part  float32 // above 0; those of a position add up to 1
}

// Example is one text. Target i is the token that should follow position i, or
// NoTarget.
type Example struct {
	Tokens  []Token
	Targets []int32
	// Shares, where there are any of position i, stand for its target: several
	// tokens may follow it. nil for none at all.
	Shares [][]Share
}

// Batch is what one pass computes: examples one behind the other, none of which
// sees another.
type Batch struct {
	Tokens  []Token
	Targets []int32
	shares  map[int][]Share // by position, where they stand for its target
	start   []int           // for each position, where its example begins
	image   []span          // for each position, its image, empty for none
	mask    arch.ImageMask
	Asked   []int // the positions that have a target
}

// span is the positions first ≤ j < end.
type span struct{ first, end int }

// NewBatch lays examples one behind the other. Soft tokens of one image see of each
// other what the mask says.
func NewBatch(examples []Example, mask arch.ImageMask) (*Batch, error) {
	b := &Batch{mask: mask}
	for i, e := range examples {
		if len(e.Tokens) == 0 || len(e.Targets) != len(e.Tokens) {
			return nil, fmt.Errorf("%w: example %d has %d tokens and %d targets", ErrBatch, i, len(e.Tokens),
				len(e.Targets))
		}
		if err := b.share(e); err != nil {
			return nil, fmt.Errorf("example %d: %w", i, err)
		}
		b.add(e)
	}
	if len(b.Tokens) == 0 {
		return nil, fmt.Errorf("%w: no examples", ErrBatch)
	}
	return b, nil
}

// share takes an example's shares along, before its tokens.
func (b *Batch) share(e Example) error {
	if e.Shares != nil && len(e.Shares) != len(e.Tokens) {
		return fmt.Errorf("%w: %d tokens and shares of %d", ErrBatch, len(e.Tokens), len(e.Shares))
	}
	for i, shares := range e.Shares {
		if len(shares) == 0 {
			continue
		}
		if len(shares) > MaxShares {
			return fmt.Errorf("%w: %d shares of position %d; %d is the most", ErrBatch, len(shares), i, MaxShares)
		}
		if b.shares == nil {
			b.shares = map[int][]Share{}
		}
		b.shares[len(b.Tokens)+i] = shares
	}
	return nil
}

// Shares are what should follow row t, which has a target: that alone, or several.
func (b *Batch) Shares(t int) []Share {
	if shares := b.shares[t]; shares != nil {
		return shares
	}
	return []Share{{b.Targets[t], 1}}
}

// MostShares is how many tokens may follow the row that has most.
func (b *Batch) MostShares() int {
	most := 1
	for _, shares := range b.shares {
		most = max(most, len(shares))
	}
	return most
}

func (b *Batch) add(e Example) {
	first := len(b.Tokens)
	b.Tokens = append(b.Tokens, e.Tokens...)
	b.Targets = append(b.Targets, e.Targets...)
	for i := range e.Tokens {
		b.start = append(b.start, first)
		if e.Targets[i] != NoTarget {
			b.Asked = append(b.Asked, first+i)
		}
	}
	for i := 0; i < len(e.Tokens); {
		image, end := e.Tokens[i].Image, i+1
		for image != 0 && end < len(e.Tokens) && e.Tokens[end].Image == image {
			end++
		}
		seen := span{first + i, first + end}
		if image == 0 {
			seen = span{}
		}
		for ; i < end; i++ {
			b.image = append(b.image, seen)
		}
	}
}

// Check refuses what would read beyond the tables of a model.
func (b *Batch) Check(c *arch.Config) error {
	known := func(id int32) bool { return id >= 0 && int(id) < c.Vocab }
	for i, t := range b.Tokens {
		if t.Soft == nil && !known(t.ID) || t.Soft != nil && len(t.Soft) != c.EmbeddingLength {
			return fmt.Errorf("%w: position %d holds token %d (%d soft values); the vocabulary has %d tokens of %d "+
				"values", ErrBatch, i, t.ID, len(t.Soft), c.Vocab, c.EmbeddingLength)
		}
	}
	for _, i := range b.Asked {
		for _, s := range b.Shares(i) {
			if !known(s.Token) || !(s.Part > 0 && s.Part <= 1) {
				return fmt.Errorf("%w: position %d has target %d (%v of it); the vocabulary has %d tokens", ErrBatch, i,
					s.Token, s.Part, c.Vocab)
			}
		}
	}
	return nil
}

// Len is the number of positions, of all examples together.
func (b *Batch) Len() int { return len(b.Tokens) }

// Position is where row t stands in its own example.
func (b *Batch) Position(t int) int { return t - b.start[t] }

// Visible returns the rows first ≤ j < end that row t sees. window is 0 in global
// layers.
func (b *Batch) Visible(t, window int) (first, end int) {
	first, end = b.start[t], t+1
	if window > 0 {
		first = max(first, t-window+1)
	}
	image := b.image[t]
	switch {
	case image == span{}:
	case b.mask == arch.WholeImages:
		first, end = min(first, image.first), max(end, image.end)
	case b.mask == arch.AheadImages && window > 0:
		end = max(end, image.end)
	}
	return first, end
}
