package ops

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/attention"
	"github.com/gemwire/gemwire/wgslkit/ops/backward"
	"github.com/gemwire/gemwire/wgslkit/ops/product"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/tower"
)

// Recorder records ops into one program. The first error sticks: the ops after it do
// nothing and Finish returns it, so that a graph reads as a list.
//
// Each op is a struct of its room; the method with its name records it.
type Recorder struct{ *record.Recorder }

// Reserve makes scratch buffers as large as was measured, so that ops of all sizes share
// one of each name. It is called before the first op.
func (r *Recorder) Reserve(measured *Recorder) { r.Recorder.Reserve(measured.Recorder) }

// Share lets r use the scratch buffers of other, a recorder of programs that are never in
// flight together with r's.
func (r *Recorder) Share(other *Recorder) { r.Recorder.Share(other.Recorder) }

// Rows by themselves.

// RMSNorm records the op.
func (r *Recorder) RMSNorm(o RMSNorm) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// LayerNorm records the op.
func (r *Recorder) LayerNorm(o LayerNorm) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// NormAdd records the op.
func (r *Recorder) NormAdd(o NormAdd) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// SumNorms records the op.
func (r *Recorder) SumNorms(o SumNorms) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Add records the op.
func (r *Recorder) Add(o Add) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Combine records the op.
func (r *Recorder) Combine(o Combine) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Copy records the op.
func (r *Recorder) Copy(o Copy) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// PickRows records the op.
func (r *Recorder) PickRows(o PickRows) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// SelectLast records the op.
func (r *Recorder) SelectLast(o SelectLast) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Overlay records the op.
func (r *Recorder) Overlay(o Overlay) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// HalfRows records the op.
func (r *Recorder) HalfRows(o HalfRows) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Gate records the op.
func (r *Recorder) Gate(o Gate) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// GateBack records the op.
func (r *Recorder) GateBack(o GateBack) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Rotations, the cache, attention.

// Rotate records the op.
func (r *Recorder) Rotate(o Rotate) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// StoreKV records the op.
func (r *Recorder) StoreKV(o StoreKV) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Attention records the op.
func (r *Recorder) Attention(o Attention) *Partials {
	r.Hear(o)
	return o.Record(r.Recorder)
}

// Matrices and products.

// Embed records the op.
func (r *Recorder) Embed(o Embed) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Linear records the op.
func (r *Recorder) Linear(o Linear) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// AllRows records the op.
func (r *Recorder) AllRows(o AllRows) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Dense records the op.
func (r *Recorder) Dense(o Dense) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Experts.

// Router records the op.
func (r *Recorder) Router(o Router) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// GroupExperts records the op.
func (r *Recorder) GroupExperts(o GroupExperts) *ExpertGroups {
	r.Hear(o)
	return o.Record(r.Recorder)
}

// ExpertLinear records the op.
func (r *Recorder) ExpertLinear(o ExpertLinear) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// SlotSum records the op.
func (r *Recorder) SlotSum(o SlotSum) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// The encoders of images and audio.

// GridEmbed records the op.
func (r *Recorder) GridEmbed(o GridEmbed) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// GridPool records the op.
func (r *Recorder) GridPool(o GridPool) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Conv2D records the op.
func (r *Recorder) Conv2D(o Conv2D) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// LayerNormReLU records the op.
func (r *Recorder) LayerNormReLU(o LayerNormReLU) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// GatedConv records the op.
func (r *Recorder) GatedConv(o GatedConv) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// RelativeAttention records the op.
func (r *Recorder) RelativeAttention(o RelativeAttention) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// FullAttention records the op.
func (r *Recorder) FullAttention(o FullAttention) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// The choice of a token.

// Sample records the op.
func (r *Recorder) Sample(o Sample) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Argmax records the op.
func (r *Recorder) Argmax(o Argmax) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Training.

// PackedAttention records the op.
func (r *Recorder) PackedAttention(o PackedAttention) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// PackedAttentionBack records the op.
func (r *Recorder) PackedAttentionBack(o PackedAttentionBack) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// LinearBack records the op.
func (r *Recorder) LinearBack(o LinearBack) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// RMSNormBack records the op.
func (r *Recorder) RMSNormBack(o RMSNormBack) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// RouterBack records the op.
func (r *Recorder) RouterBack(o RouterBack) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// ExpertBack records the op.
func (r *Recorder) ExpertBack(o ExpertBack) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// CrossEntropy records the op.
func (r *Recorder) CrossEntropy(o CrossEntropy) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// AdamW records the op.
func (r *Recorder) AdamW(o AdamW) {
	r.Hear(o)
	o.Record(r.Recorder)
}

// Of ops in parts.

// Merge is attention.Merge.
func (r *Recorder) Merge(label string, p *Partials, out *wgslkit.Buffer) {
	attention.Merge(r.Recorder, label, p, out)
}

// Residual is product.AddResidual.
func (r *Recorder) Residual(label string, x *wgslkit.Buffer, n int, o Residual) {
	product.AddResidual(r.Recorder, label, x, n, o)
}

// Prepare is product.Prepare.
func (r *Recorder) Prepare(label string, in Input, cols int) Input {
	return product.Prepare(r.Recorder, label, in, cols)
}

// ThroughFloat16 is product.ThroughFloat16.
func (r *Recorder) ThroughFloat16(o Linear) bool { return product.ThroughFloat16(r.Recorder, o) }

// FullAttentionHeads is tower.FullAttentionHeads.
func (r *Recorder) FullAttentionHeads(o FullAttention, tokens int) {
	tower.FullAttentionHeads(r.Recorder, o, tokens)
}

// FullAttentionOfHeads is tower.FullAttentionOfHeads.
func (r *Recorder) FullAttentionOfHeads(o FullAttention) {
	r.Hear(o)
	tower.FullAttentionOfHeads(r.Recorder, o)
}

// AttendsThroughFloat16 is tower.AttendsThroughFloat16.
func (r *Recorder) AttendsThroughFloat16(o FullAttention) bool {
	return tower.AttendsThroughFloat16(r.Recorder, o)
}

// PackedStats is backward.PackedStats.
func (r *Recorder) PackedStats(o PackedAttention) { backward.PackedStats(r.Recorder, o) }

// PackedValues is backward.PackedValues.
func (r *Recorder) PackedValues(o PackedAttention) { backward.PackedValues(r.Recorder, o) }
