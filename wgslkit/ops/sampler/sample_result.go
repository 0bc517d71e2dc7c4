package sampler

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// SampleResult is the token chosen for a position.
type SampleResult struct {
	Token   int32
	LogProb float32        // of Token; only where SampleParams.LogProbs > 0
	Top     []TokenLogProb // the LogProbs most probable tokens, best first
}

// TokenLogProb is a token's natural log-probability under the model alone: the
// softmax of the logits as they came.
type TokenLogProb struct {
	Token   int32
	LogProb float32
}

// SampleRead is a choice on its way from the GPU.
type SampleRead struct {
	position int
	words    int
	readback *wgslkit.Readback
}

// StartRead begins to read the choice for a position, after everything
// submitted so far, and returns at once. Every SampleRead must be finished with
// Result or Discard.
func (s *Sampler) StartRead(position int) (*SampleRead, error) {
	return s.startRead(position, s.memory.StartRead)
}

// SubmitRead replays a recording that chooses for a position, and is StartRead then, in
// one submission.
func (s *Sampler) SubmitRead(r *record.Recording, position int) (*SampleRead, error) {
	return s.startRead(position, func(offset, size int64) (*wgslkit.Readback, error) {
		return r.SubmitRead(1, s.memory, offset, size)
	})
}

func (s *Sampler) startRead(position int, start func(offset, size int64) (*wgslkit.Readback,
	error)) (*SampleRead, error) {
	if position < 0 {
		return nil, fmt.Errorf("%w: the choice for position %d", wgslkit.ErrValidation, position)
	}
	at := s.layout.results + position%s.options.Results*s.layout.resultWords
	words := samplerResultTop + 2*s.logProbs
	readback, err := start(int64(4*at), int64(4*words))
	if err != nil {
		return nil, err
	}
	return &SampleRead{position: position, words: words, readback: readback}, nil
}

// Discard waits for the read and drops it.
func (r *SampleRead) Discard() { r.readback.Discard() }

// Result waits for the choice. The error wraps ErrLogits where the logits were
// no distribution to choose from.
func (r *SampleRead) Result() (SampleResult, error) {
	raw := make([]byte, 4*r.words)
	if err := r.readback.Bytes(raw); err != nil {
		return SampleResult{}, err
	}
	return resultOf(raw, r.position)
}

// ResultBytes is what a choice takes where CopyResult leaves it.
func (s *Sampler) ResultBytes() int64 { return int64(4 * s.layout.resultWords) }

// CopyResult records that the choice is brought to a buffer, for whoever reads those of
// several samplers at once with ParseResult. The sampler keeps one (SamplerOptions.Results).
func (s *Sampler) CopyResult(r *record.Recorder, into *wgslkit.Buffer, offset int64) {
	if s.options.Results != 1 {
		r.Fail("result", fmt.Errorf("%w: a sampler that keeps %d results", wgslkit.ErrValidation, s.options.Results))
		return
	}
	r.CopyBytes(s.memory, into, int64(4*s.layout.results), offset, s.ResultBytes())
}

// ParseResult is SampleRead.Result for the bytes of a choice for a position that CopyResult
// brought away.
func (s *Sampler) ParseResult(raw []byte, position int) (SampleResult, error) {
	return resultOf(raw[:4*(samplerResultTop+2*s.logProbs)], position)
}

func resultOf(raw []byte, position int) (SampleResult, error) {
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(raw[4*i:]) }
	if int(word(2)) != position {
		return SampleResult{}, fmt.Errorf("%w: no token was chosen for position %d, or too many since",
			wgslkit.ErrValidation, position)
	}
	if word(1) != 0 {
		return SampleResult{}, fmt.Errorf("%w at position %d: one is NaN or +Inf (the model's weights may be "+
			"damaged), or penalties and bias leave no token possible",
			ErrLogits, position)
	}
	result := SampleResult{Token: int32(word(0))}
	n := min(int(word(3)), (len(raw)/4-samplerResultTop)/2)
	if n == 0 {
		return result, nil
	}
	result.LogProb = math.Float32frombits(word(4))
	result.Top = make([]TokenLogProb, n)
	for i := range result.Top {
		at := samplerResultTop + 2*i
		result.Top[i] = TokenLogProb{Token: int32(word(at)), LogProb: math.Float32frombits(word(at + 1))}
	}
	return result, nil
}
