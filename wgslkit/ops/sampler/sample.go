package sampler

import (
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// ErrLogits says that the logits are no distribution to choose from: one is NaN
// or +Inf, or every token is forbidden.
var ErrLogits = errors.New("unusable logits")

// Sample records the choice of the next token from the logits of the program's
// last one: penalties, bias, then the largest, or temperature, top-k, top-p,
// min-p and a draw, as the Sampler is configured when the program is replayed.
//
// The choice stands at position p = state[StatePosition] + state[StateWidth]. It
// is written to Tokens[0], appended to the sampler's history and kept for
// StartRead(p); then the state becomes position p, width 1. So a decoding
// program whose first op embeds Tokens can be submitted again and again without
// a word from the host.
//
// The steps and the random number are these, for the logits l:
//
//  1. For each token that stands c > 0 times among the last RepeatLastN of the
//     history: l = l / r if l > 0, else l · r (r the repetition penalty); then
//     l = l − presence − frequency · c.
//  2. l = l + bias; where Masked, l = −∞ for tokens that the mask lacks.
//  3. At temperature 0 the largest l wins, the lowest token of equals.
//  4. p = exp((l − the largest l) / temperature), in units of 2⁻⁴⁰.
//  5. In descending order of l, of equals the lower token first: the first k
//     stay (top-k); of them the shortest run whose sum is at least top-p of all
//     that stay; of them those with p ≥ min-p.
//  6. The first token at which the sum exceeds u · (the sum of what stays).
//
// u is a hash of the seed and the position; see sample_random.wgsl. All sums are exact
// integers, so that the same seed gives the same tokens on the same device, in
// whatever order its threads run. Between devices, and against float64, a p
// differs by about 1e-7 of itself: where u, or the edge of top-p or min-p, comes
// closer to a token's boundary than that, its neighbour may be chosen.
type Sample struct {
	Label   string
	Logits  *wgslkit.Buffer // [vocab] float32, after the softcap; stays as it is
	Tokens  *wgslkit.Buffer // u32, at least one
	Sampler *Sampler
	// Masked chooses among the tokens of the mask alone that SetMask wrote last; see AddMask.
	Masked bool
}

// Record records the op, as four dispatches or a small one.
func (o Sample) Record(r *record.Recorder) {
	s := o.Sampler
	if o.Logits.Size() < int64(4*s.options.Vocab) {
		r.Fail(o.Label, fmt.Errorf("%w: %q holds %d bytes, too few for the logits of %d tokens",
			wgslkit.ErrValidation, o.Logits.Label(), o.Logits.Size(), s.options.Vocab))
		return
	}
	if o.Masked && s.mask == nil {
		r.Fail(o.Label, fmt.Errorf("%w: a masked choice of a sampler without a mask", wgslkit.ErrValidation))
		return
	}
	all := func(buffers ...*wgslkit.Buffer) (out []wgslkit.Binding) {
		for _, b := range buffers {
			out = append(out, b.All())
		}
		return out
	}
	binds := map[string][]wgslkit.Binding{
		"sample_small.wgsl":     all(s.settings, r.State(), o.Logits, s.bias, o.Tokens, s.memory, s.scratch),
		"sample_scan.wgsl":      all(s.settings, o.Logits, s.memory, s.bias, s.adjusted, s.scratch),
		"sample_histogram.wgsl": all(s.settings, o.Logits, s.adjusted, s.probabilities, s.scratch, s.list),
		"sample_gather.wgsl":    all(s.settings, r.State(), o.Logits, s.adjusted, s.probabilities, s.scratch, s.list),
		"sample_choose.wgsl":    all(s.settings, r.State(), o.Logits, s.scratch, s.list, o.Tokens, s.memory),
	}
	if o.Masked {
		for _, file := range []string{"sample_small.wgsl", "sample_scan.wgsl"} {
			binds[file] = append(binds[file], s.mask.All())
		}
	}
	for _, step := range s.steps(o.Masked) {
		r.Dispatch(Files, step.file, step.variant,
			wgslkit.Call{Label: o.Label, Bind: binds[step.file], Grid: wgslkit.Grid{X: uint32(step.groups)}})
	}
}

// sampleStep is one dispatch of sampling.
type sampleStep struct {
	file    string
	variant wgslkit.Variant
	groups  int
}

// steps are sampling's dispatches in their order. The first alone reads the mask.
func (s *Sampler) steps(masked bool) []sampleStep {
	if s.shape.small {
		return []sampleStep{{"sample_small.wgsl", withMask(wgslkit.Variant{"BINS": s.shape.bins}, masked), 1}}
	}
	shared := s.variant(s.shape.threads)
	return []sampleStep{
		{"sample_scan.wgsl", withMask(s.variant(s.shape.threads), masked), s.shape.groups},
		{"sample_histogram.wgsl", shared, s.shape.groups},
		{"sample_gather.wgsl", shared, s.shape.groups},
		{"sample_choose.wgsl", s.variant(s.shape.lastThreads), 1},
	}
}

// withMask adds MASKED to a variant of its own.
func withMask(v wgslkit.Variant, masked bool) wgslkit.Variant {
	if masked {
		v["MASKED"] = true
	}
	return v
}

// prepare begins to compile the steps, which takes longer than other kernels.
func (s *Sampler) prepare() error {
	for _, step := range s.steps(false) {
		if _, err := s.kit.Device().Kernel(Files.Shaders(), step.file, step.variant); err != nil {
			return err
		}
	}
	return nil
}
