package gemma4

import (
	"context"
	"fmt"
	"iter"

	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// Choosing says how tokens are chosen, one after another.
type Choosing struct {
	Sampling sample.Params
	// MaxTokens bounds how many, beside what the context leaves; 0 means no other bound.
	MaxTokens int
	// Prefill, where set, hears how much of the prompt is computed.
	Prefill func(done, total int)
	// Drafts is how many tokens a draft has, at most, where the text repeats
	// itself: they are computed in one pass over the weights and kept as far as they
	// are what would have been chosen. Where drafts are wrong, fewer are made. 0
	// leaves it to the device, which drafts as many as its kernels compute in about
	// the time of a few: none on software rasterizers. NoDrafts computes one token
	// after the other, with an assistant too.
	Drafts int
	// AssistantDrafts is the same for the drafts of an assistant, where one is
	// attached: NoDrafts leaves drafting to the text alone.
	AssistantDrafts int
	// Constraint, where set, holds the tokens to a form, those of a thought apart that
	// the prompt wishes for. Where it leaves one text alone, the tokens of that text are
	// taken without choosing; not so where log-probabilities are asked for.
	Constraint *grammar.Constraint
	// Usage, where set, is filled in: what the prompt took before the first choice,
	// and what was drafted with each.
	Usage *Usage

	// guide, where set, is how far an answer has come along Constraint: the prompt ends with
	// that part of it.
	guide *guide
}

// NoDrafts is the value of Choosing.Drafts that drafts nothing, MostDrafts the
// largest that there may be.
const (
	NoDrafts   = -1
	MostDrafts = engine.MaxDraft
)

// Choose gives the tokens that follow a prompt, whatever they mean: a token
// that ends a turn does not end the sequence, unless a constraint holds it to a form, of
// which it is the end. Generate is what reads them as an answer.
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
		if c.Usage == nil {
			c.Usage = &Usage{}
		}
		limit, err := s.admit(prompt, c)
		if err != nil {
			yield(sample.Choice{}, err)
			return
		}
		g, err := s.model.newGuide(c, prompt.Tokens)
		if err == nil {
			err = s.prepare(ctx, prompt, limit, c, g)
		}
		if err != nil {
			yield(sample.Choice{}, err)
			return
		}
		defer s.settle()
		d := s.speculationFor(c, prompt)
		d.guide = g
		s.chooseAll(ctx, limit, d, yield)
	}
}

// chooseAll chooses up to limit tokens.
func (s *Session) chooseAll(ctx context.Context, limit int, d speculation, yield func(sample.Choice, error) bool) {
	var one [1]sample.Choice
	for chosen := 0; chosen < limit; {
		choices, err := s.chooseSome(ctx, &d, limit-chosen, one[:])
		if err != nil {
			yield(sample.Choice{}, err)
			return
		}
		// What was chosen before the last of these is computed by now; that one is not yet.
		computed := s.state.Len() - (len(choices) - 1)
		for i, choice := range choices {
			s.push(computed+i, choice.Token)
			d.push(choice.Token)
			if err := d.guide.accept(choice.Token); err != nil {
				yield(sample.Choice{}, err)
				return
			}
			if !yield(choice, nil) || d.guide.ended() {
				return
			}
		}
		chosen += len(choices)
	}
}

// chooseSome chooses the next token, or several where a draft of them was right.
func (s *Session) chooseSome(ctx context.Context, d *speculation, most int,
	one []sample.Choice) ([]sample.Choice, error) {
	if forced, err := d.guide.forced(most); err != nil || len(forced) > 0 {
		return s.force(ctx, d, forced, err)
	}
	draft, assisted := d.plan(most - 1) // one more than was drafted is chosen
	draft, err := d.guide.fitting(draft)
	if err != nil {
		return nil, err
	}
	wanted := len(draft) > 0 || assisted > 0
	if !s.state.Drain(wanted) || !wanted {
		one[0], err = s.state.Next(ctx)
		return one, err
	}
	if assisted > 0 {
		if draft, err = s.state.Draft(ctx, assisted); err == nil {
			draft, err = d.guide.fitting(draft)
		}
		if err != nil {
			return nil, err
		}
	}
	choices, err := s.state.Verify(ctx, draft)
	if err == nil {
		d.observe(len(draft), len(choices)-1, assisted > 0)
	}
	return choices, err
}

// force takes tokens that nothing has to choose.
func (s *Session) force(ctx context.Context, d *speculation, tokens []int32, err error) ([]sample.Choice, error) {
	if err == nil {
		err = s.state.Force(ctx, tokens)
	}
	if err != nil {
		return nil, err
	}
	d.usage.Forced += len(tokens)
	choices := make([]sample.Choice, len(tokens))
	for i, t := range tokens {
		choices[i].Token = t
	}
	return choices, nil
}

// speculationFor is who drafts: nobody where nothing is drafted.
func (s *Session) speculationFor(c Choosing, prompt Prompt) speculation {
	d := speculation{usage: c.Usage}
	if c.Drafts < 0 {
		return d
	}
	g := s.state.LimitDrafts(min(c.Drafts, MostDrafts), min(c.AssistantDrafts, MostDrafts))
	if g.Lookup > 0 {
		d.lookupDrafter, d.lookup = newLookupDrafter(prompt.Tokens, s.context, g.Lookup), lookupPolicy(g)
	}
	if g.Assistant > 0 {
		d.assistant = assistantPolicy(g)
	}
	return d
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
	limit, err := s.room(len(prompt.Tokens), 1)
	if err != nil {
		return 0, err
	}
	if err := c.Sampling.Validate(s.model.arch.Config.Vocab); err != nil {
		return 0, err
	}
	if c.MaxTokens > 0 {
		limit = min(limit, c.MaxTokens)
	}
	return limit, nil
}

// prepare computes the prompt and begins to choose.
func (s *Session) prepare(ctx context.Context, prompt Prompt, limit int, c Choosing, g *guide) error {
	if err := s.advance(ctx, prompt, c); err != nil {
		return err
	}
	var masks engine.Masks
	if g != nil {
		masks = g
	}
	if c.Sampling.Dry() {
		s.state.SetBreakers(s.model.breakersOf(c.Sampling))
	}
	if err := s.state.Start(c.Sampling, prompt.Tokens, limit, masks); err != nil {
		s.settle()
		return err
	}
	return nil
}

// settle ends choosing: the session's text is what the caches hold.
func (s *Session) settle() {
	s.state.Stop(len(s.text.Tokens))
	s.truncate(s.state.Len())
}
