package sampler

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// SampleParams say how a token is chosen. The zero value is greedy. Each zero
// field leaves its step out.
type SampleParams = sampling.Params

// Defaults and bounds of SampleParams.
const (
	DefaultRepeatLastN = sampling.DefaultRepeatLastN // how far back penalties look unless told otherwise
	MaxLogProbs        = sampling.MaxLogProbs        // the largest SamplerOptions.MaxLogProbs
)

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
		Vocab: uint32(o.Vocab), Chunk: uint32((o.Vocab + s.shape.groups - 1) / s.shape.groups),
		Groups:  uint32(s.shape.groups),
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
	if err := s.writeBias(p.LogitBias); err != nil {
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
	if err := p.Validate(s.options.Vocab); err != nil {
		return fmt.Errorf("%w: %w", wgslkit.ErrValidation, err)
	}
	if names := p.OnHost(); len(names) > 0 {
		return fmt.Errorf("%w: no kernel has a step for %s: have the CPU's sampler choose from the logits",
			wgslkit.ErrValidation, strings.Join(names, ", "))
	}
	if p.LogProbs > s.options.MaxLogProbs {
		return fmt.Errorf("%w: %d log-probabilities from a sampler that was made for %d",
			wgslkit.ErrValidation, p.LogProbs, s.options.MaxLogProbs)
	}
	return nil
}

// windowOf is how many tokens the penalties look at, 0 where there are none.
func (s *Sampler) windowOf(p SampleParams) int {
	if !p.Penalizes() {
		return 0
	}
	return p.LastN(s.options.History)
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
	out.Repetition, out.Presence, out.Frequency = p.Repetition(), p.PresencePenalty, p.FrequencyPenalty
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
