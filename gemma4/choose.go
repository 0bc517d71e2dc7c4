package gemma4

import (
	"context"
	"fmt"
	"iter"

	"github.com/gemwire/gemwire/gemma4/sample"
)

// Choosing says how tokens are chosen, one after another.
type Choosing struct {
	Sampling sample.Params
	// MaxTokens bounds how many; 0 means what the context leaves.
	MaxTokens int
	// Prefill, where set, hears how much of the prompt is computed.
	Prefill func(done, total int)

	usage *Usage // what the prompt took, set before the first choice
}

// Choose gives the tokens that follow a prompt, whatever they mean: a token
// that ends a turn does not end the sequence. Generate is what reads them as
// an answer.
//
// On a fault, or when ctx ends, the sequence ends with an error; leaving the
// loop ends it too.
func (s *Session) Choose(ctx context.Context, prompt Prompt, c Choosing) iter.Seq2[sample.Choice, error] {
	return func(yield func(sample.Choice, error) bool) {
		if err := s.begin(); err != nil {
			yield(sample.Choice{}, err)
			return
		}
		defer s.end()
		limit, err := s.admit(prompt, c)
		if err != nil {
			yield(sample.Choice{}, err)
			return
		}
		if err := s.prepare(ctx, prompt, limit, c); err != nil {
			yield(sample.Choice{}, err)
			return
		}
		defer s.settle()
		for range limit {
			choice, err := s.state.next(ctx)
			if err == nil {
				// What was chosen before is computed by now; this one is not yet.
				s.text.Tokens = append(s.text.Tokens[:s.state.length()], choice.Token)
			}
			if !yield(choice, err) || err != nil {
				return
			}
		}
	}
}

// admit refuses what cannot work before anything is computed, and returns how
// many tokens may be chosen.
func (s *Session) admit(prompt Prompt, c Choosing) (int, error) {
	if err := prompt.check(s.model.arch.Config); err != nil {
		return 0, err
	}
	if c.MaxTokens < 0 {
		return 0, fmt.Errorf("%w: an answer of %d tokens", ErrUnsupported, c.MaxTokens)
	}
	if err := s.room(len(prompt.Tokens), max(c.MaxTokens, 1)); err != nil {
		return 0, err
	}
	if err := c.Sampling.Validate(s.model.arch.Config.Vocab); err != nil {
		return 0, err
	}
	if c.MaxTokens == 0 {
		return s.context - len(prompt.Tokens), nil
	}
	return c.MaxTokens, nil
}

// prepare computes the prompt and begins to choose.
func (s *Session) prepare(ctx context.Context, prompt Prompt, limit int, c Choosing) error {
	if c.usage == nil {
		c.usage = &Usage{}
	}
	if err := s.advance(ctx, prompt, c); err != nil {
		return err
	}
	if err := s.state.start(c.Sampling, prompt.Tokens, limit); err != nil {
		s.settle()
		return err
	}
	return nil
}

// settle ends choosing: the session's text is what the caches hold.
func (s *Session) settle() {
	s.state.stop(len(s.text.Tokens))
	s.text.truncate(s.state.length())
}
