package ops

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
)

// DefaultRepeatLastN is how far back penalties look where RepeatLastN is 0.
const DefaultRepeatLastN = 64

// SampleParams say how a token is chosen. The zero value is greedy. Each zero
// field leaves its step out.
type SampleParams struct {
	Temperature float32 // 0 is greedy
	TopK        int     // 0 keeps all
	TopP        float32 // 0 and 1 keep all
	MinP        float32

	RepetitionPenalty float32 // 0 and 1 change nothing
	PresencePenalty   float32
	FrequencyPenalty  float32
	// RepeatLastN is how many of the last tokens count as seen: 0 is
	// DefaultRepeatLastN, a negative number all that the history holds.
	RepeatLastN int

	Bias map[int32]float32 // -Inf forbids a token
	Seed uint64

	// LogProbs is how many of the most probable tokens to report; 0 reports no
	// log-probability at all.
	LogProbs int
}

// samplerSettings is Settings of sample_settings.wgsl.
type samplerSettings struct {
	Vocab, Chunk, Groups, Greedy      uint32
	Temperature, BinScale, BinLimit   float32
	TopK, TopP                        uint32
	MinP                              float32
	Repetition, Presence, Frequency   float32
	Window, Biased, SeedLow, SeedHigh uint32
	LogProbs, History, Results        uint32
	ResultWords, HistoryAt, ResultsAt uint32
	RawList                           uint32
	RawScale, RawLimit                float32
}

func (s *Sampler) fixedSettings() samplerSettings {
	o, l := s.options, s.layout
	rawScale, rawLimit := s.shape.binning(1)
	return samplerSettings{
		Vocab: uint32(o.Vocab), Chunk: uint32((o.Vocab + s.shape.groups - 1) / s.shape.groups), Groups: uint32(s.shape.groups),
		History: uint32(o.History), Results: uint32(o.Results), ResultWords: uint32(l.resultWords),
		HistoryAt: uint32(l.history), ResultsAt: uint32(l.results), RawList: uint32(l.rawList),
		RawScale: rawScale, RawLimit: rawLimit,
	}
}

// Configure sets the parameters of every choice that is submitted after it.
func (s *Sampler) Configure(p SampleParams) error {
	if err := s.validate(p); err != nil {
		return err
	}
	if err := s.writeBias(p.Bias); err != nil {
		return err
	}
	s.window, s.logProbs = s.windowOf(p), min(p.LogProbs, s.options.Vocab)
	raw, err := binary.Append(nil, binary.LittleEndian, s.settingsOf(p))
	if err != nil {
		return err
	}
	if err := s.settings.Write(0, raw); err != nil {
		return err
	}
	return s.countAgain()
}

func (s *Sampler) validate(p SampleParams) error {
	for _, c := range []struct {
		name      string
		value     float64
		low, high float64
	}{
		{"temperature", float64(p.Temperature), 0, 1e6},
		{"top-k", float64(p.TopK), 0, math.MaxInt32},
		{"top-p", float64(p.TopP), 0, 1},
		{"min-p", float64(p.MinP), 0, 1},
		{"repetition penalty", float64(p.RepetitionPenalty), 0, 1e6},
		{"presence penalty", float64(p.PresencePenalty), -1e6, 1e6},
		{"frequency penalty", float64(p.FrequencyPenalty), -1e6, 1e6},
		{"log-probabilities", float64(p.LogProbs), 0, float64(s.options.MaxLogProbs)},
	} {
		if !(c.value >= c.low && c.value <= c.high) { // so that NaN fails too
			return fmt.Errorf("%w: %s is %v, wanted %v to %v", wgslkit.ErrValidation, c.name, c.value, c.low, c.high)
		}
	}
	for token, bias := range p.Bias {
		if b := float64(bias); math.IsNaN(b) || math.IsInf(b, 1) || token < 0 || int(token) >= s.options.Vocab {
			return fmt.Errorf("%w: logit bias %v of token %d: wanted a finite number or -Inf, of a token below %d",
				wgslkit.ErrValidation, bias, token, s.options.Vocab)
		}
	}
	return nil
}

// windowOf is how many tokens the penalties look at, 0 where there are none.
func (s *Sampler) windowOf(p SampleParams) int {
	if cmp.Or(p.RepetitionPenalty, 1) == 1 && p.PresencePenalty == 0 && p.FrequencyPenalty == 0 {
		return 0
	}
	n := cmp.Or(p.RepeatLastN, DefaultRepeatLastN)
	if n < 0 {
		return s.options.History
	}
	return min(n, s.options.History)
}

// writeBias replaces the whole table; it stays unwritten as long as nobody asks.
func (s *Sampler) writeBias(bias map[int32]float32) error {
	if len(bias) == 0 {
		s.biased = false
		return nil
	}
	table := make([]float32, s.options.Vocab)
	for token, b := range bias {
		table[token] = b
	}
	s.biased = true
	return s.bias.Write(0, wordBytes(table))
}

// lowestTemperature keeps its product with a difference of logits out of the
// denormal numbers, which a GPU may take for 0.
const lowestTemperature = 0x1p-100

func (s *Sampler) settingsOf(p SampleParams) samplerSettings {
	out := s.fixed
	if p.Temperature == 0 {
		out.Greedy = 1
	}
	out.Temperature = max(p.Temperature, lowestTemperature)
	out.BinScale, out.BinLimit = s.shape.binning(out.Temperature)
	if p.TopK < s.options.Vocab {
		out.TopK = uint32(p.TopK)
	}
	if p.TopP < 1 {
		out.TopP = topPFraction(p.TopP)
	}
	out.MinP = p.MinP
	out.Repetition, out.Presence, out.Frequency = cmp.Or(p.RepetitionPenalty, 1), p.PresencePenalty, p.FrequencyPenalty
	out.Window, out.LogProbs = uint32(s.window), uint32(s.logProbs)
	if s.biased {
		out.Biased = 1
	}
	out.SeedLow, out.SeedHigh = uint32(p.Seed), uint32(p.Seed>>32)
	return out
}

// binning is how many bins a unit of logits has: the largest power of two at
// which the bins still reach as far down as a token can have a mass (2⁻⁴⁰ is
// exp(−27.8)); and the logit whose bin is the last that float32 counts exactly.
func (s samplerShape) binning(temperature float32) (scale, limit float32) {
	_, exponent := math.Frexp(28 * float64(temperature) / float64(s.bins))
	return float32(math.Ldexp(1, -exponent)), float32(math.Ldexp(1, 23+exponent))
}

// topPFraction is p in units of 2⁻³², at least one of them for p > 0.
func topPFraction(p float32) uint32 {
	if p == 0 {
		return 0
	}
	return uint32(max(math.Round(float64(p)*(1<<32)), 1))
}
