package ops

import (
	"context"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/attention"
	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
	"github.com/gemwire/gemwire/wgslkit/ops/product"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rope"
	"github.com/gemwire/gemwire/wgslkit/ops/rowwise"
	"github.com/gemwire/gemwire/wgslkit/ops/sampler"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// Kit chooses kernel variants for one device, by what the device can do, and makes what
// ops read: matrices, caches, rotations, samplers.
type Kit struct{ *record.Kit }

// New returns the kit for dev.
func New(dev *wgslkit.Device) *Kit { return &Kit{record.New(dev)} }

// NewTuned is New with other sizes than the device's kind suggests: to measure, or to
// test the variants of another kind.
func NewTuned(dev *wgslkit.Device, tuning Tuning) *Kit { return &Kit{record.NewTuned(dev, tuning)} }

// TuningOf is what suits dev, were it of the given kind.
func TuningOf(dev *wgslkit.Device, kind wgslkit.Kind) Tuning { return record.TuningOf(dev, kind) }

// TuningFor is what suits a kind of device with the given features.
func TuningFor(kind wgslkit.Kind, f wgslkit.Features) Tuning { return record.TuningFor(kind, f) }

// On is a kit for another device with the same sizes: for the one that is rehearsed on.
func (k *Kit) On(dev *wgslkit.Device) *Kit { return &Kit{k.Kit.On(dev)} }

// Heard is a kit that tells ear of each op that is recorded with it, before its kernels
// are asked for, and of how many tokens its program has.
func (k *Kit) Heard(ear func(op any, width int)) *Kit { return &Kit{k.Kit.Heard(ear)} }

// Record starts a program of at most width tokens. state holds StateWords words at
// least, and is read at replay.
func (k *Kit) Record(label string, width int, state *wgslkit.Buffer) *Recorder {
	return &Recorder{k.Kit.Record(label, width, state)}
}

// Measure starts a program that is never made: nothing is compiled and no memory taken,
// but Scratch then tells what its ops need besides the buffers they are given, of which
// it reads nothing. Those may be new(wgslkit.Buffer).
func (k *Kit) Measure(width int) *Recorder { return &Recorder{k.Kit.Measure(width)} }

// Upload is weights.Upload.
func (k *Kit) Upload(
	ctx context.Context, label string, layout Layout, sources []Source, progress func(bytes int64),
) (*Matrix, error) {
	return weights.Upload(ctx, k.Kit, label, layout, sources, progress)
}

// HoldUploads is weights.HoldUploads.
func (k *Kit) HoldUploads() *Uploads { return weights.HoldUploads(k.Kit) }

// HasKernels is weights.HasKernels.
func HasKernels(t quant.Type) bool { return weights.HasKernels(t) }

// MatrixBytes is weights.MatrixBytes.
func (k *Kit) MatrixBytes(t quant.Type, rows, cols int) int64 {
	return weights.MatrixBytes(t, rows, cols)
}

// NewBounds is product.NewBounds.
func (k *Kit) NewBounds(label string, layout Layout, inMin, inMax float32, sources ...RowBounds) (*Bounds, error) {
	return product.NewBounds(k.Kit, label, layout, inMin, inMax, sources...)
}

// LargeTileWidth is product.LargeTileWidth.
func (k *Kit) LargeTileWidth() int { return product.LargeTileWidth(k.Kit) }

// FewTokens is product.FewTokens.
func (k *Kit) FewTokens() (each, most int) { return product.FewTokens(k.Kit) }

// NewRope is rope.NewRope.
func (k *Kit) NewRope(label string, theta float64, dim int, factors []float32) (*Rope, error) {
	return rope.NewRope(k.Kit, label, theta, dim, factors)
}

// NewKVCache is kvcache.NewKVCache.
func (k *Kit) NewKVCache(label string, s CacheShape) (*KVCache, error) {
	return kvcache.NewKVCache(k.Kit, label, s)
}

// NewPartials is attention.NewPartials.
func (k *Kit) NewPartials(label string, splits, heads, headDim int) (*Partials, error) {
	return attention.NewPartials(k.Kit, label, splits, heads, headDim)
}

// NewSampler is sampler.NewSampler.
func (k *Kit) NewSampler(o SamplerOptions) (*Sampler, error) { return sampler.NewSampler(k.Kit, o) }

// All is the rows of a buffer that holds nothing else.
func All(b *wgslkit.Buffer) Slice { return record.All(b) }

// Rows is a row-major matrix in a buffer of its own.
func Rows(b *wgslkit.Buffer, columns int) Lattice { return record.Rows(b, columns) }

// HalfWords is how many words a row of so many values takes as HalfRows.
func HalfWords(size int) int { return rowwise.HalfWords(size) }
