package ops

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// Partials are the results of one token's attention over Splits ranges of
// keys, not yet merged. The buffer holds float32 values:
//
//	[0]                                 how many splits are filled: the first ones, at least 1
//	[4 + 2·(h·Splits + s)]              m, the largest score of head h in split s
//	[5 + 2·(h·Splits + s)]              l = Σ exp(score − m)
//	[o + (h·Splits + s)·HeadDim + d]    Σ exp(score − m)·v[d],  o = 4 + 2·Heads·Splits, rounded up to a multiple of 4
//
// and the merged value of element i = h·HeadDim + d is, with M = max of m over the filled splits,
// Σ exp(m − M)·o[d] / Σ exp(m − M)·l. wgsl/merge.wgsl reads it.
type Partials struct {
	Buffer                 *wgslkit.Buffer
	Splits, Heads, HeadDim int
}

// NewPartials makes a buffer for partial results.
func (k *Kit) NewPartials(label string, splits, heads, headDim int) (*Partials, error) {
	return nil, errors.New("not yet")
}

// Release frees the buffer.
func (p *Partials) Release() {
	if p != nil {
		p.Buffer.Release()
	}
}

// Merge records out ← the merged partials, [Heads·HeadDim].
func (r *Recorder) Merge(label string, p *Partials, out *wgslkit.Buffer) {
	r.fail(label, errors.New("not yet"))
}
