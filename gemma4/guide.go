package gemma4

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// guide leads an answer along a constraint. A thought is free, and comes before.
type guide struct {
	tokenizer *tokenizer.Tokenizer
	words     int // of a mask
	matcher   *grammar.Matcher
	thinking  chat.Thinking
	stage     stage
	over      bool     // the token that ends the answer was accepted
	free      []uint32 // the mask within a thought, made when one begins
	tokens    []int32  // of forced
	chooseAll bool     // nothing is forced
}

// stage is where in an answer a guide is.
type stage int

const (
	atStart stage = iota // a thought may come, or what is held to the form
	inThought
	inForm
)

// newGuide leads an answer to a prompt, or goes on where that has begun; nil where the answer
// is free.
func (m *Model) newGuide(choosing Choosing, prompt []int32) (*guide, error) {
	c := choosing.Constraint
	if c == nil || choosing.guide != nil {
		return choosing.guide, nil
	}
	if !m.own(c) {
		return nil, fmt.Errorf("%w: the constraint was compiled for another model; compile it with this model's "+
			"Constraint", grammar.ErrVocabulary)
	}
	t, err := m.template.ThinkingIn(m.tokenizer, prompt)
	if err != nil {
		return nil, err
	}
	g := &guide{tokenizer: m.tokenizer, words: c.Vocabulary().Words(), matcher: c.New(), thinking: t,
		stage: inForm, chooseAll: choosing.Sampling.LogProbs > 0}
	switch {
	case t.Begun:
		g.stage = inThought
	case t.Wished:
		g.stage = atStart
	}
	return g, nil
}

// accept goes one token on.
func (g *guide) accept(token int32) error {
	if g == nil {
		return nil
	}
	switch {
	case g.stage == inThought:
		if int(token) == g.thinking.Close {
			g.stage = inForm
		}
		return nil
	case g.stage == atStart && int(token) == g.thinking.Open:
		g.stage = inThought
		return nil
	}
	g.stage = inForm
	g.over = g.tokenizer.IsEOG(int(token))
	return g.matcher.Accept(int(token))
}

// ended says whether the form, and so the answer, is over.
func (g *guide) ended() bool { return g != nil && g.over }

// back is a place to return to.
type back struct {
	stage stage
	taken int
}

func (g *guide) mark() back { return back{g.stage, g.matcher.Len()} }

func (g *guide) to(b back) error {
	g.stage = b.stage
	return g.matcher.Rollback(g.matcher.Len() - b.taken)
}

// After is the mask behind what was accepted and a draft, which must fit.
func (g *guide) After(draft []int32, dst []uint32) error {
	here := g.mark()
	for _, t := range draft {
		if err := g.accept(t); err != nil {
			return err
		}
	}
	if err := g.mask(dst); err != nil {
		return err
	}
	return g.to(here)
}

func (g *guide) mask(dst []uint32) error {
	if g.stage == inThought {
		copy(dst, g.freely())
		return nil
	}
	if err := g.matcher.Mask(dst); err != nil {
		return fmt.Errorf("holding the answer to its form, behind %d tokens: %w", g.matcher.Len(), err)
	}
	if g.stage == atStart {
		dst[g.thinking.Open/32] |= 1 << (g.thinking.Open % 32)
	}
	return nil
}

// freely is the mask within a thought: any text, and its end.
func (g *guide) freely() []uint32 {
	if g.free != nil {
		return g.free
	}
	g.free = make([]uint32, g.words)
	for id := range g.tokenizer.Len() {
		if id == g.thinking.Close || !g.tokenizer.IsControl(id) && !g.tokenizer.IsEOG(id) {
			g.free[id/32] |= 1 << (id % 32)
		}
	}
	return g.free
}

// fitting is the part of a draft that the form allows, up to a token that ends the answer.
func (g *guide) fitting(draft []int32) ([]int32, error) {
	if g == nil {
		return draft, nil
	}
	here, n := g.mark(), 0
	for n < len(draft) && !g.tokenizer.IsEOG(int(draft[n])) && g.allows(draft[n]) {
		n++
	}
	return draft[:n], g.to(here)
}

// allows goes one token on, where the form and the place allow it.
func (g *guide) allows(token int32) bool {
	if g.stage == inThought {
		if g.freely()[token/32]>>(token%32)&1 == 0 {
			return false
		}
	}
	return g.accept(token) == nil
}

// leastForced is how many tokens are worth a pass of their own: one is what a step computes.
const leastForced = 2

// forced is the tokens that come next whatever the model says, at most that many, as the
// tokenizer splits their text; none where there are few. It goes on behind them. It is
// only valid until the next call.
func (g *guide) forced(most int) ([]int32, error) {
	if g == nil || g.chooseAll || g.stage != inForm || most < leastForced {
		return nil, nil
	}
	here := g.mark()
	g.tokens = g.tokens[:0]
	if err := g.force(most); err != nil {
		return nil, err
	}
	if err := g.to(here); err != nil || len(g.tokens) < leastForced {
		return nil, err
	}
	return g.tokens, nil
}

// force adds to tokens, and accepts, what must come.
func (g *guide) force(most int) error {
	for len(g.tokens) < most {
		if id, ok := g.matcher.ForcedControl(); ok {
			if err := g.matcher.Accept(id); err != nil {
				return err
			}
			g.tokens = append(g.tokens, int32(id))
			continue
		}
		text, err := g.matcher.Forced()
		if err != nil || len(text) == 0 {
			return err
		}
		if !g.forceText(text, most) {
			return nil
		}
	}
	return nil
}

// forceText adds the tokens of a text as the tokenizer splits it, and says whether all of
// it was added. The last one is left out where it may be the beginning of a longer one.
func (g *guide) forceText(text []byte, most int) bool {
	ids := g.tokenizer.Encode(string(text))
	for i, id := range ids {
		if len(g.tokens) == most || g.matcher.Accept(id) != nil { // it may be spelt in another way, too
			return false
		}
		if _, control := g.matcher.ForcedControl(); i == len(ids)-1 && !control && !g.matcher.Complete() {
			return false
		}
		g.tokens = append(g.tokens, int32(id))
	}
	return true
}
