// Package sampling defines the settings of a sampler: what each is called, what
// it does, and which values it takes. It computes nothing. The sampler on the
// GPU, the one on the CPU, the command line and the bindings all read this one
// table, so that none of them can disagree with another.
//
// Read params.go for the settings, settings.go for the table, setting.go for
// what can be done with a row of it, and bias.go for the one setting that is a
// list.
package sampling

import "cmp"

// Params says how a token is chosen. The zero value is greedy: the most probable
// token, always. Each zero field leaves its step out. JSON writes zeros, too: read
// over a default, what a text leaves out stays as it was.
type Params struct {
	// Temperature divides the logits: below 1 sharpens, above 1 flattens. 0 is
	// greedy, and then of what follows only penalties, DRY and LogitBias have an effect.
	Temperature float32 `json:"temperature"`
	// TopK keeps the k most probable tokens; 0 keeps all.
	TopK int `json:"topK"`
	// TopP keeps the most probable tokens up to this sum, 0 < p ≤ 1; 0 and 1
	// keep all.
	TopP float32 `json:"topP"`
	// MinP drops tokens less probable than this part of the most probable, 0 to 1.
	MinP float32 `json:"minP"`
	// TypicalP keeps the tokens whose surprise, −ln p, is nearest to what is expected, the
	// entropy, up to this sum, 0 < p ≤ 1; 0 and 1 keep all (Meister et al., 2022).
	TypicalP float32 `json:"typicalP"`
	// TopNSigma drops tokens whose logit is more than so many standard deviations of all
	// logits below the largest; 0 keeps all (Tang et al., 2024).
	TopNSigma float32 `json:"topNSigma"`
	// DynatempRange lets the temperature go this far below and above Temperature: low
	// where one token stands out, high where many are alike. It is then applied last. 0 is
	// a temperature that stays.
	DynatempRange float32 `json:"dynatempRange"`
	// DynatempExponent is the power of the entropy, as a part of the largest there could be,
	// that the temperature rises with; 0 means 1.
	DynatempExponent float32 `json:"dynatempExponent"`
	// XtcProbability is how often, of the tokens whose probability is XtcThreshold or
	// more, all but the least probable are dropped; 0 is never.
	XtcProbability float32 `json:"xtcProbability"`
	// XtcThreshold is 0.1 where it is 0; above 0.5 nothing is ever dropped.
	XtcThreshold float32 `json:"xtcThreshold"`

	// RepetitionPenalty divides the positive logits of tokens already seen, and
	// multiplies their negative ones; 0 and 1 change nothing.
	RepetitionPenalty float32 `json:"repetitionPenalty"`
	// PresencePenalty is subtracted from the logits of tokens already seen.
	PresencePenalty float32 `json:"presencePenalty"`
	// FrequencyPenalty is subtracted as often as a token was seen.
	FrequencyPenalty float32 `json:"frequencyPenalty"`
	// RepeatLastN is how many of the session's last tokens count as seen: 0
	// means DefaultRepeatLastN, a negative number all of them.
	RepeatLastN int `json:"repeatLastN"`

	// DryMultiplier, where not 0, lowers the logits of tokens that would go on with a
	// repetition: one of n ≥ DryAllowedLength tokens by
	// DryMultiplier · DryBase^(n − DryAllowedLength) (DRY, "don't repeat yourself").
	DryMultiplier float32 `json:"dryMultiplier"`
	// DryBase is 1.75 where it is 0.
	DryBase float32 `json:"dryBase"`
	// DryAllowedLength is 2 where it is 0.
	DryAllowedLength int `json:"dryAllowedLength"`
	// DryPenaltyLastN is how many of the session's last tokens are looked at for repetitions:
	// 0 and negative numbers mean all of them.
	DryPenaltyLastN int `json:"dryPenaltyLastN"`
	// DrySequenceBreakers are texts across which nothing counts as a repetition:
	// DefaultSequenceBreakers where there are none, and none at all where the only one is
	// NoSequenceBreakers.
	DrySequenceBreakers []string `json:"drySequenceBreakers"`

	// LogitBias is added to the logits of single tokens; −Inf forbids one.
	LogitBias Bias `json:"logitBias"`

	// Seed chooses among the possible answers: the same seed, logits and
	// positions give the same tokens.
	Seed uint64 `json:"seed"`

	// LogProbs is how many of the most probable tokens to report with each
	// choice; 0 reports nothing, not even the chosen token's log-probability.
	LogProbs int `json:"logProbs"`
}

// DefaultRepeatLastN is how far back penalties look unless told otherwise.
const DefaultRepeatLastN = 64

// What zeros stand for.
const (
	DefaultXtcThreshold     = 0.1
	DefaultDryBase          = 1.75
	DefaultDryAllowedLength = 2
)

// NoSequenceBreakers is the one entry of Params.DrySequenceBreakers that means none.
const NoSequenceBreakers = "none"

// DefaultSequenceBreakers are those of llama.cpp.
func DefaultSequenceBreakers() []string { return []string{"\n", ":", "\"", "*"} }

// MaxLogProbs is the largest LogProbs.
const MaxLogProbs = 256

// Greedy says whether the most probable token is always chosen.
func (p Params) Greedy() bool { return p.Temperature == 0 }

// Repetition is the repetition penalty, 1 where there is none.
func (p Params) Repetition() float32 { return cmp.Or(p.RepetitionPenalty, 1) }

// Penalizes says whether tokens already seen matter.
func (p Params) Penalizes() bool {
	return p.Repetition() != 1 || p.PresencePenalty != 0 || p.FrequencyPenalty != 0
}

// Dry says whether repetitions are made less probable.
func (p Params) Dry() bool { return p.DryMultiplier != 0 }

// Breakers are the texts across which DRY sees no repetition.
func (p Params) Breakers() []string {
	switch {
	case len(p.DrySequenceBreakers) == 0:
		return DefaultSequenceBreakers()
	case len(p.DrySequenceBreakers) == 1 && p.DrySequenceBreakers[0] == NoSequenceBreakers:
		return nil
	}
	return p.DrySequenceBreakers
}

// OnHost names the settings in use whose steps need what no kernel has: the whole history, or
// all candidates in order. The logits of each token are then read back, and the program
// itself chooses.
func (p Params) OnHost() (names []string) {
	for _, step := range []struct {
		name string
		used bool
	}{
		{"dry-multiplier", p.Dry()},
		{"top-n-sigma", p.TopNSigma > 0 && !p.Greedy()},
		{"typical-p", p.TypicalP > 0 && p.TypicalP < 1 && !p.Greedy()},
		{"xtc-probability", p.XtcProbability > 0 && !p.Greedy()},
		{"dynatemp-range", p.DynatempRange > 0 && !p.Greedy()},
	} {
		if step.used {
			names = append(names, step.name)
		}
	}
	return names
}

// LastN is how many of a history's last tokens count as seen.
func (p Params) LastN(history int) int {
	n := cmp.Or(p.RepeatLastN, DefaultRepeatLastN)
	if n < 0 {
		return history
	}
	return min(n, history)
}

// Window returns the part of history, oldest token first, that counts as seen.
func (p Params) Window(history []int32) []int32 {
	return history[len(history)-p.LastN(len(history)):]
}

// Validate returns an error wrapping ErrSetting that names the first setting
// with a value that makes no sense. Pass the size of the vocabulary to have the
// tokens of LogitBias checked too, or 0 to leave them.
func (p Params) Validate(vocab int) error {
	if err := Check(Settings, &p); err != nil {
		return err
	}
	return p.LogitBias.checkTokens(vocab)
}
