package ops

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// ErrLogits says that the logits are no distribution to choose from: one is NaN
// or +Inf, or every token is forbidden.
var ErrLogits = errors.New("unusable logits")

// DefaultRepeatLastN is how far back penalties look where RepeatLastN is 0.
const DefaultRepeatLastN = 64

// MaxLogProbs is the largest SamplerOptions.MaxLogProbs.
const MaxLogProbs = 256

// Sample records the choice of the next token from the logits of the program's
// last one: penalties, bias, then greedy or temperature, top-k, top-p, min-p and
// a draw, as the Sampler is configured when the program is replayed.
//
// The choice stands at position p = state[StatePosition] + state[StateWidth]. It
// is written to Tokens[0], appended to the sampler's history and kept for
// StartRead(p); then the state becomes position p, width 1. So a decoding
// program whose first op embeds Tokens can be submitted again and again without
// a word from the host.
type Sample struct {
	Label   string
	Logits  *wgslkit.Buffer // [vocab] float32, after the softcap; stays as it is
	Tokens  *wgslkit.Buffer // u32, at least one
	Sampler *Sampler
}

// Sample records the op.
func (r *Recorder) Sample(o Sample) {
	r.fail(o.Label, errors.ErrUnsupported)
}
