package parity

import (
	"fmt"
	"math"
	"slices"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// Session.Logits computes few positions at a time. Answers take other programs: prompts in
// chunks of up to productionChunk tokens, and one token after the other behind them.
const (
	productionChunk = 512
	singles         = 4   // tokens behind a prompt that are computed one by one
	compared        = 64  // of the most probable tokens in a place
	tiledPrompt     = 600 // tokens of a prompt that is longer than a chunk
)

// production compares the log-probabilities behind a prompt, as an answer begins with them,
// and behind each of some further tokens, with those of the reference's logits of the last
// positions.
func (r *run) production(s *gemma4.Session, i int, ids []int32, logits []float32, vocab int) error {
	if err := s.Reset(); err != nil {
		return err
	}
	if vocab == 0 || len(logits)%vocab != 0 || len(logits) > len(ids)*vocab {
		return fmt.Errorf("%w: prompt %d has %d logits", ErrNoCase, i, len(logits))
	}
	first := len(ids) - len(logits)/vocab // position of the first of them
	var worst float64
	for n := max(1, len(ids)-singles, first+1); n <= len(ids); n++ {
		e, err := r.offAt(s, ids[:n], logits[(n-1-first)*vocab:(n-first)*vocab])
		if err != nil {
			return err
		}
		worst = math.Max(worst, e)
	}
	return r.check(fmt.Sprintf("prompt %d: in a chunk, then by token", i), worst, r.boundsOf(s.Model().Info()).Logits, "")
}

// longPrompt repeats a prompt until it is longer than a chunk, and compares what comes behind it
// in production with the same session's Logits, which the reference has been held to. The CPU
// computes both in the same way.
func (r *run) longPrompt(s *gemma4.Session, ids []int32) error {
	most := min(tiledPrompt, s.Context()-1)
	if most <= productionChunk || s.Model().Info().Device == gemma4.DeviceCPU {
		return nil
	}
	long := slices.Repeat(ids, (most+len(ids)-1)/len(ids))[:most]
	var last []float32
	err := s.Logits(r.ctx, gemma4.Tokens(long), func(at int, row []float32) error {
		if at == most-1 {
			last = slices.Clone(row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.Reset(); err != nil {
		return err
	}
	e, err := r.offAt(s, long, last)
	if err != nil {
		return err
	}
	return r.check(fmt.Sprintf("%d tokens: in chunks of %d", most, productionChunk), e,
		r.boundsOf(s.Model().Info()).Logits,
		"")
}

// offAt is how far the most probable tokens behind a text are from logits.
func (r *run) offAt(s *gemma4.Session, text []int32, logits []float32) (float64, error) {
	choosing := gemma4.Choosing{MaxTokens: 1, Drafts: gemma4.NoDrafts,
		Sampling: sample.Params{LogProbs: min(compared, len(logits))}}
	for choice, err := range s.Choose(r.ctx, gemma4.Tokens(text), choosing) {
		if err != nil {
			return 0, err
		}
		first, _ := sample.LogProbs(logits, 0, 1)
		norm := logits[0] - first
		got, want := make([]float32, len(choice.Top)), make([]float32, len(choice.Top))
		for i, top := range choice.Top {
			got[i], want[i] = top.LogProb, logits[top.Token]-norm
		}
		return RelativeError(got, want), nil
	}
	return 0, fmt.Errorf("%w: nothing was chosen behind %d tokens", ErrNoCase, len(text))
}
