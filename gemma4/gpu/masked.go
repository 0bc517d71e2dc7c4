package gpu

import (
	"context"
	"slices"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// masked is what an answer takes whose choices are among masks. A mask depends on the
// token before, which the host has to see: so a step is two submissions. The first
// chooses, and its token is read back; the second computes that token, and while it does,
// the host makes the mask for the choice behind it.
type masked struct {
	masks engine.Masks
	words []uint32
	// submitted says that the token chosen last, or the prompt's last, is computed or about to
	// be: its logits are what the next choice is from.
	submitted bool
}

// startMasked begins an answer with masks, or, where there are none, ends the one before.
// The first one makes the mask's buffer and two programs; no step makes anything.
func (s *state) startMasked(masks engine.Masks) (err error) {
	s.masked.masks, s.masked.submitted = masks, true
	if masks == nil {
		return nil
	}
	if s.masked.words == nil {
		s.masked.words = make([]uint32, engine.MaskWords(s.engine.model.Config.Vocab))
	}
	if err := s.sampler.AddMask(); err != nil {
		return err
	}
	if p := s.programs; p.masked == nil {
		if p.masked, err = s.recorder().chooseMasked(); err != nil {
			return err
		}
	}
	return s.addForward()
}

// addForward records the program that computes a token and chooses none, where that was not
// done.
func (s *state) addForward() (err error) {
	p := s.programs
	if p.forward == nil {
		if p.forward, err = s.recorder().forward(); err != nil {
			return err
		}
		p.forwardStream = s.single.stream
	}
	return nil
}

// chooseMasked records the choice from the logits of one token, of those of the mask.
func (r *recorder) chooseMasked() (*ops.Recording, error) {
	g := r.graph("choose of a mask", r.single)
	g.sampleOf(r.sampler, true)
	return g.Finish()
}

// forward records decode without its choice.
func (r *recorder) forward() (*ops.Recording, error) {
	return r.everyOf("decode without a choice", r.single, false)
}

// setMask writes the mask behind a draft for the choices submitted from now on.
func (s *state) setMask(draft []int32) error {
	if err := s.masked.masks.After(draft, s.masked.words); err != nil {
		return err
	}
	return s.sampler.SetMask(s.masked.words)
}

// nextMasked is Next of an answer with masks.
func (s *state) nextMasked(ctx context.Context) (sample.Choice, error) {
	if err := ctx.Err(); err != nil {
		return sample.Choice{}, err
	}
	if err := s.computeLast(); err != nil {
		return sample.Choice{}, err
	}
	if err := s.setMask(nil); err != nil {
		return sample.Choice{}, err
	}
	read, err := s.sampler.SubmitRead(s.programs.masked, s.position)
	if err != nil {
		return sample.Choice{}, err
	}
	s.position++
	s.masked.submitted = false
	if !s.draining && !s.rowByRow && s.position < s.limit {
		if err := s.submitLast(); err != nil {
			read.Discard()
			return sample.Choice{}, err
		}
	}
	choice, err := choiceOf(read)
	if err != nil {
		return sample.Choice{}, err
	}
	s.last = choice.Token
	if s.chosen++; s.chosen > 1 {
		s.advance(1)
		err = s.checkpoint(false)
	}
	return choice, err
}

// computeLast computes the token chosen last, where nobody has.
func (s *state) computeLast() error {
	if s.masked.submitted {
		return nil
	}
	if err := s.feedRows(s.single, []int32{s.last}); err != nil {
		return err
	}
	return s.submitLast()
}

func (s *state) submitLast() error {
	s.masked.submitted = true
	s.stream, s.streamRow = s.programs.forwardStream, -1
	return s.programs.forward.Submit(1)
}

// Force computes tokens that need no choice. What stands before them is computed with
// them, where that was not done, and the logits of the last are what the next choice is from.
func (s *state) Force(ctx context.Context, tokens []int32) error {
	run := tokens
	switch {
	case s.chosen == 0: // they come right behind the prompt
	case s.masked.submitted:
		s.advance(1)
	default:
		run = slices.Concat([]int32{s.last}, tokens)
	}
	if err := s.prefill(ctx, engine.Piece{Tokens: run}, func(int) {}); err != nil {
		return err
	}
	if err := s.sampler.SetHistory(tokens, s.cached-len(tokens)); err != nil {
		return err
	}
	if s.hosted.on() {
		s.hosted.history = append(s.hosted.history, tokens...)
	}
	s.last, s.chosen, s.position = tokens[len(tokens)-1], s.chosen+len(tokens), s.cached
	s.cached-- // the last counts when the one behind it is chosen
	s.masked.submitted = true
	return nil
}
