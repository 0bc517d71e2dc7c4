package sample

import (
	"errors"
	"fmt"
	"math"
)

// ErrParams says that an option has a value that makes no sense.
var ErrParams = errors.New("invalid sampling option")

// Params says how a token is chosen. The zero value is greedy: the most probable
// token, always. Each zero field leaves its step out.
type Params struct {
	// Temperature divides the logits: below 1 sharpens, above 1 flattens. 0 is
	// greedy, and then TopK, TopP, MinP and Seed have no effect.
	Temperature float32
	// TopK keeps the k most probable tokens; 0 keeps all.
	TopK int
	// TopP keeps the most probable tokens up to this sum, 0 < p ≤ 1; 0 and 1
	// keep all.
	TopP float32
	// MinP drops tokens less probable than this part of the most probable, 0 to 1.
	MinP float32

	// RepetitionPenalty divides the positive logits of tokens already seen, and
	// multiplies their negative ones; 0 and 1 change nothing.
	RepetitionPenalty float32
	// PresencePenalty is subtracted from the logits of tokens already seen.
	PresencePenalty float32
	// FrequencyPenalty is subtracted as often as a token was seen.
	FrequencyPenalty float32
	// RepeatLastN is how many of the session's last tokens count as seen: 0
	// means DefaultRepeatLastN, a negative number all of them.
	RepeatLastN int

	// LogitBias is added to the logits of single tokens; −Inf forbids one.
	LogitBias map[int32]float32

	// Seed chooses among the possible answers: the same seed, logits and
	// positions give the same tokens.
	Seed uint64

	// LogProbs is how many of the most probable tokens to report with each
	// choice; 0 reports nothing, not even the chosen token's log-probability.
	LogProbs int
}

// DefaultRepeatLastN is how far back penalties look unless told otherwise.
const DefaultRepeatLastN = 64

// MaxLogProbs is the largest LogProbs.
const MaxLogProbs = 256

// Default returns the settings that Gemma 4 is released with: temperature 1,
// top-k 64, top-p 0.95.
func Default() Params { return Params{Temperature: 1, TopK: 64, TopP: 0.95} }

// Greedy says whether the most probable token is always chosen.
func (p Params) Greedy() bool { return p.Temperature == 0 }

// Penalizes says whether tokens already seen matter.
func (p Params) Penalizes() bool {
	return p.repetition() != 1 || p.PresencePenalty != 0 || p.FrequencyPenalty != 0
}

// Window returns the part of history, oldest token first, that counts as seen.
func (p Params) Window(history []int32) []int32 {
	n := p.RepeatLastN
	if n == 0 {
		n = DefaultRepeatLastN
	}
	if n < 0 || n >= len(history) {
		return history
	}
	return history[len(history)-n:]
}

func (p Params) repetition() float32 {
	if p.RepetitionPenalty == 0 {
		return 1
	}
	return p.RepetitionPenalty
}

// topP is the sum to reach; a sum that rounding cannot miss where all stay.
func (p Params) topP() float64 {
	if p.TopP == 0 || p.TopP == 1 {
		return math.Inf(1)
	}
	return float64(p.TopP)
}

// keepsAll says whether neither top-p nor min-p drops anything.
func (p Params) keepsAll() bool { return math.IsInf(p.topP(), 1) && p.MinP == 0 }

// Validate returns an error wrapping ErrParams that names the first option of a
// value that makes no sense. Pass the size of the vocabulary to have the tokens
// of LogitBias checked too, or 0 to leave them.
func (p Params) Validate(vocab int) error {
	checks := []struct {
		name      string
		value     float64
		low, high float64
	}{
		{"temperature", float64(p.Temperature), 0, 100},
		{"top-k", float64(p.TopK), 0, math.MaxInt32},
		{"top-p", float64(p.TopP), 0, 1},
		{"min-p", float64(p.MinP), 0, 1},
		{"repetition penalty", float64(p.RepetitionPenalty), 0, 100},
		{"presence penalty", float64(p.PresencePenalty), -100, 100},
		{"frequency penalty", float64(p.FrequencyPenalty), -100, 100},
		{"log-probabilities", float64(p.LogProbs), 0, MaxLogProbs},
	}
	for _, c := range checks {
		if !(c.value >= c.low && c.value <= c.high) { // so that NaN fails too
			return fmt.Errorf("%s is %v, wanted %v to %v: %w", c.name, c.value, c.low, c.high, ErrParams)
		}
	}
	return p.validateBias(vocab)
}

func (p Params) validateBias(vocab int) error {
	for token, bias := range p.LogitBias {
		if b := float64(bias); math.IsNaN(b) || math.IsInf(b, 1) {
			return fmt.Errorf("logit bias of token %d is %v, wanted a finite number, or -Inf to forbid the token: %w", token, bias, ErrParams)
		}
		if token < 0 || vocab > 0 && int(token) >= vocab {
			return fmt.Errorf("logit bias of token %d: the vocabulary has tokens 0 to %d: %w", token, vocab-1, ErrParams)
		}
	}
	return nil
}
