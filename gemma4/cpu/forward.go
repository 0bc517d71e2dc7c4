package cpu

import (
	"context"
	"errors"
	"fmt"
)

var (
	// ErrInput says that a call asks for what the model cannot do.
	ErrInput = errors.New("invalid input")
	// ErrTooLarge says that the weights do not fit into the memory they may take.
	ErrTooLarge = errors.New("the weights are too large")
	// ErrContextFull says that the tokens do not fit behind those in the cache.
	ErrContextFull = errors.New("context is full")
)

// Input is what stands at one position: a token, or a soft token of an image or
// an audio clip.
type Input struct {
	Token int32
	// Embedding, where not nil, is a soft token's vector of d values; Token is
	// then of no account.
	Embedding []float32
	// Image, where not 0, numbers the image that a soft token belongs to. In
	// models whose images are seen in both directions, the soft tokens of one
	// image see each other: they must stand side by side and come in one call.
	Image int
}

// Tokens returns the inputs for plain tokens.
func Tokens(ids []int32) []Input {
	inputs := make([]Input, len(ids))
	for i, id := range ids {
		inputs[i].Token = id
	}
	return inputs
}

// Logits says for which positions logits are wanted.
type Logits int

// The choices of logits. All but AllLogits let layers be skipped.
const (
	LastLogits Logits = iota // of the last position, [vocab]
	AllLogits                // of every position, [positions, vocab]
	NoLogits                 // none: the call only fills the cache
)

// Want says what Forward should give beside filling the cache.
type Want struct {
	Logits Logits
	// Hidden, where set, is called with the residual stream, x, of the positions
	// from first on, [positions, d]: for layer 0 the scaled embeddings, for layer
	// J what layer J−1, counted from 0, left behind; but for J = L the output of
	// the final norm. A long input comes in several batches. x is only valid
	// during the call. No layer is skipped for any position.
	Hidden func(layer, first int, x []float32)
	// Normed, where set, is called with the output of the final norm at those
	// positions that logits are computed of, from first on, [positions, d]. It is
	// only valid during the call, and no reason to compute more.
	Normed func(first int, h []float32)
}

// Forward runs the inputs at the positions behind those in the cache, and adds
// them to it. The logits are those after the softcap.
//
// It returns an error wrapping ErrInput for inputs of a wrong form, ErrContextFull
// where they do not fit, ctx's own error soon after that ends, or the error of
// reading weights. After an error the cache holds what it held before, and
// perhaps some of the inputs: Len says how many.
func (m *Model) Forward(ctx context.Context, cache *Cache, inputs []Input, want Want) ([]float32, error) {
	if err := m.checkInputs(cache, inputs); err != nil {
		return nil, err
	}
	var logits []float32
	for len(inputs) > 0 {
		n := m.batchEnd(inputs)
		s, err := m.newStep(cache, inputs[:n])
		if err != nil {
			return nil, err
		}
		inputs = inputs[n:]
		s.keep(want, len(inputs) == 0)
		batch, err := m.run(ctx, s, want)
		if err != nil {
			return nil, err
		}
		logits = append(logits, batch...)
		cache.length += n
	}
	return logits, nil
}

func (m *Model) checkInputs(cache *Cache, inputs []Input) error {
	c := m.config
	if cache.config != c {
		return fmt.Errorf("the cache was made for another model: %w", ErrInput)
	}
	if len(inputs) == 0 {
		return fmt.Errorf("no tokens given: %w", ErrInput)
	}
	if free := cache.context - cache.length; len(inputs) > free {
		return fmt.Errorf("%d tokens do not fit behind %d in a context of %d: shorten the conversation or use a "+
			"longer context: %w",
			len(inputs), cache.length, cache.context, ErrContextFull)
	}
	for i, in := range inputs {
		if in.Embedding == nil && (in.Token < 0 || int(in.Token) >= c.Vocab) {
			return fmt.Errorf("token %d at input %d: the vocabulary has tokens 0 to %d: %w", in.Token, i, c.Vocab-1,
				ErrInput)
		}
		if in.Embedding != nil && len(in.Embedding) != c.EmbeddingLength {
			return fmt.Errorf("the soft token at input %d has %d values, wanted %d: %w", i, len(in.Embedding),
				c.EmbeddingLength, ErrInput)
		}
	}
	return nil
}

// batchEnd is how many of the inputs go together: the batch, and what is left of
// an image that it would cut apart.
func (m *Model) batchEnd(inputs []Input) int {
	n := min(m.batch, len(inputs))
	if m.config.BidirectionalImages() {
		for n < len(inputs) && inputs[n].Image != 0 && inputs[n].Image == inputs[n-1].Image {
			n++
		}
	}
	return n
}

// run takes one batch through the model and returns the logits it was asked for.
func (m *Model) run(ctx context.Context, s *step, want Want) ([]float32, error) {
	hidden := want.Hidden
	if hidden == nil {
		hidden = func(int, int, []float32) {}
	}
	hidden(0, s.first, s.x)
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.yield()
		if err := m.layer(s, i); err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
		if s.tokens == 0 {
			return nil, nil
		}
		if i+1 < len(m.layers) {
			hidden(i+1, s.first, s.x)
		}
	}
	rmsNorm(s.h, s.x, m.outputNorm, m.config.Eps)
	hidden(len(m.layers), s.first, s.h)
	if want.Logits == NoLogits {
		return nil, nil
	}
	if want.Normed != nil {
		want.Normed(s.first, s.h)
	}
	logits := make([]float32, s.tokens*m.config.Vocab)
	return logits, m.logits(s, logits)
}
