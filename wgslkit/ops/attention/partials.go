package attention

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Partials are the results of one token's attention over Splits ranges of
// keys, not yet merged. The buffer holds float32 values:
//
//	[0]                                 how many splits are filled: the first ones, at least 1
//	[4 + 2·(h·Splits + s)]              m, the largest score of head h in split s
//	[5 + 2·(h·Splits + s)]              l = Σ exp(score − m)
//	[o + (h·Splits + s)·HeadDim + d]    Σ exp(score − m)·v[d],  o = 4 + 2·Heads·Splits, rounded up to a multiple of 4
//
// and the merged value of element i = h·HeadDim + d is, with M = max of m over
// the filled splits, Σ exp(m − M)·o[d] / Σ exp(m − M)·l. merge.wgsl reads it.
type Partials struct {
	Buffer                 *wgslkit.Buffer
	Splits, Heads, HeadDim int
	// region is how many values each of several tokens has; 0 for one token.
	region int
}

// NewPartials makes a buffer for partial results.
func NewPartials(k *record.Kit, label string, splits, heads, headDim int) (*Partials, error) {
	b, err := k.Device().NewBuffer(label, wgslkit.Activations, int64(4*partialsLen(splits, heads, headDim)))
	if err != nil {
		return nil, err
	}
	return &Partials{Buffer: b, Splits: splits, Heads: heads, HeadDim: headDim}, nil
}

// regionOf is how many values a token has, where there are some.
func (p *Partials) regionOf() uint32 {
	if p == nil {
		return 0
	}
	return uint32(p.region)
}

// partialsLen is the buffer's float32 values.
func partialsLen(splits, heads, headDim int) int {
	return (4+2*heads*splits+3)/4*4 + heads*splits*headDim
}

// Release frees the buffer.
func (p *Partials) Release() {
	if p != nil {
		p.Buffer.Release()
	}
}

type mergeParams struct{ Heads, HeadDim, Splits, Region uint32 }

// Merge records out ← the merged partials, [Heads·HeadDim], of each token that has some.
func Merge(r *record.Recorder, label string, p *Partials, out *wgslkit.Buffer) {
	if p.Splits > record.MergedSplits {
		r.Fail(label, fmt.Errorf("%w: %d splits, at most %d are merged", wgslkit.ErrLimit, p.Splits,
			record.MergedSplits))
		return
	}
	block := min(32, r.Tuning().Threads)
	grid := wgslkit.Grid{X: uint32(p.Heads), Y: uint32((p.HeadDim + block - 1) / block)}
	if p.region > 0 {
		grid.Tile, grid.Along = 1, wgslkit.AlongZ
	}
	r.Dispatch(Files, "merge_splits.wgsl", r.RowVariant(wgslkit.Variant{"BLOCK": block, "SPLITS": record.MergedSplits}),
		wgslkit.Call{
			Label:  label,
			Bind:   []wgslkit.Binding{p.Buffer.All(), out.All()},
			Params: mergeParams{uint32(p.Heads), uint32(p.HeadDim), uint32(p.Splits), uint32(p.region)},
			Grid:   grid,
		})
}
