package gpu

import (
	"context"
	"slices"

	"github.com/gemwire/gemwire/gemma4/sample"
)

// hosted is what an answer takes whose choices no kernel can make (sampling.Params.OnHost). The
// logits of each token are read back, and the sampler of package sample chooses; what was chosen
// is written to where a choice on the GPU would have left it. One token is computed after
// the other, and nothing is drafted.
type hosted struct {
	sampler  *sample.Sampler // nil where the GPU chooses
	breakers sample.Breakers
	history  []int32
	logits   []float32
}

func (h *hosted) on() bool { return h.sampler != nil }

func (s *state) SetBreakers(b sample.Breakers) { s.hosted.breakers = b }

// startHosted begins an answer whose choices the host makes, or, where it need not, ends the
// one before.
func (s *state) startHosted(p sample.Params, history []int32) (err error) {
	h := &s.hosted
	if h.sampler = nil; len(p.OnHost()) == 0 {
		return nil
	}
	vocab := s.engine.model.Config.Vocab
	if h.sampler, err = sample.New(vocab, p); err != nil {
		return err
	}
	h.sampler.SetBreakers(h.breakers)
	h.history = append(slices.Grow(h.history[:0], s.sizing.context), history...)
	if h.logits == nil {
		h.logits = make([]float32, vocab)
	}
	return s.addForward()
}

// nextHosted is Next of an answer whose choices the host makes.
func (s *state) nextHosted(ctx context.Context) (sample.Choice, error) {
	if err := ctx.Err(); err != nil {
		return sample.Choice{}, err
	}
	if err := s.computeLast(); err != nil {
		return sample.Choice{}, err
	}
	h := &s.hosted
	read, err := s.single.logits.StartRead(0, int64(4*len(h.logits)))
	if err != nil {
		return sample.Choice{}, err
	}
	if s.masked.masks != nil { // made while the GPU computes
		if err := s.masked.masks.After(nil, s.masked.words); err != nil {
			read.Discard()
			return sample.Choice{}, err
		}
		h.sampler.SetMask(s.masked.words)
	}
	if err := read.FloatsInto(h.logits); err != nil {
		return sample.Choice{}, err
	}
	choice, err := h.sampler.Sample(h.logits, h.history, s.position)
	if err != nil {
		return sample.Choice{}, err
	}
	return choice, s.takeHosted(choice.Token)
}

// takeHosted writes a token to where a choice on the GPU leaves it.
func (s *state) takeHosted(token int32) error {
	if err := s.at(s.position, 1); err != nil {
		return err
	}
	if err := s.single.tokens.Write(0, words([]int32{token})); err != nil {
		return err
	}
	s.hosted.history = append(s.hosted.history, token)
	s.last, s.masked.submitted = token, false
	s.position++
	if s.chosen++; s.chosen > 1 {
		s.advance(1)
		return s.checkpoint(false)
	}
	return nil
}
