package ops

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// SamplerOptions are the sizes of a Sampler, which stay.
type SamplerOptions struct {
	Vocab int
	// History is how many of the session's last tokens are remembered for
	// penalties: the context's length for all of them. 0 is DefaultRepeatLastN.
	History int
	// MaxLogProbs bounds SampleParams.LogProbs.
	MaxLogProbs int
	// Results is how many choices are kept for StartRead before the oldest is
	// overwritten; 0 is 64.
	Results int
}

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

// Sampler chooses tokens on the GPU. It holds one session's history, the
// parameters of the generation under way and its results.
type Sampler struct {
	kit     *Kit
	options SamplerOptions
}

// NewSampler makes a sampler with no history, configured greedy.
func (k *Kit) NewSampler(o SamplerOptions) (*Sampler, error) { return nil, errors.ErrUnsupported }

// Configure sets the parameters of every choice that is submitted after it.
func (s *Sampler) Configure(p SampleParams) error { return errors.ErrUnsupported }

// SetHistory writes the session's tokens at positions first, first+1, … and
// drops what came after them: the prompt, or, with no tokens, a way back to an
// earlier position. Tokens outside of the vocabulary count for nothing.
func (s *Sampler) SetHistory(tokens []int32, first int) error { return errors.ErrUnsupported }

// Bytes is the GPU memory that the sampler takes.
func (s *Sampler) Bytes() int64 { return 0 }

// Release frees the sampler's buffers. Programs that it was recorded into must
// not be replayed any more.
func (s *Sampler) Release() {}

// StartRead begins to read the choice for a position, after everything
// submitted so far, and returns at once. Every SampleRead must be finished with
// Result or Discard.
func (s *Sampler) StartRead(position int) (*SampleRead, error) { return nil, errors.ErrUnsupported }

// SampleRead is a choice on its way from the GPU.
type SampleRead struct {
	sampler  *Sampler
	position int
	readback *wgslkit.Readback
}

// Result waits for the choice. The error wraps ErrLogits where the logits were
// no distribution.
func (r *SampleRead) Result() (SampleResult, error) { return SampleResult{}, errors.ErrUnsupported }

// Discard waits for the read and drops it.
func (r *SampleRead) Discard() { r.readback.Discard() }

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
