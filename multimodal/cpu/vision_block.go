package cpu

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// visionBlock holds one block's norms and linears.
type visionBlock struct {
	attnNorm, qNorm, kNorm, attnPostNorm []float32
	q, k, v, attnOutput                  linear
	ffnNorm, ffnPostNorm                 []float32
	gate, up, down                       linear
	outputScale                          []float32 // one value; nil means 1
}

func (r *reader) visionBlock(a *arch.VisionLayer) visionBlock {
	return visionBlock{
		attnNorm: r.vector(a.AttnNorm), qNorm: r.vector(a.QNorm), kNorm: r.vector(a.KNorm),
		attnPostNorm: r.vector(a.AttnPostNorm),
		q:            r.linear(&a.Q), k: r.linear(&a.K), v: r.linear(&a.V), attnOutput: r.linear(&a.AttnOutput),
		ffnNorm: r.vector(a.FFNNorm), ffnPostNorm: r.vector(a.FFNPostNorm),
		gate: r.linear(&a.Gate), up: r.linear(&a.Up), down: r.linear(&a.Down),
		outputScale: r.vector(a.OutputScale),
	}
}

// block runs one block over an image:
//
//	x = x + rms(attn(rms(x; ln1)); attn_post_norm)
//	x = x + rms(mlp(rms(x; ln2)); ffn_post_norm)
//	x = x · out_scale
//
// The keys and values of all patches come first; then each batch of patches goes
// through the rest alone.
func (v *Vision) block(ctx context.Context, b *visionBlock, image *image) error {
	kv := newKeysValues(image.patches(), v.config.Width)
	if err := v.batches(ctx, image, func(first int, x []float32) error {
		return v.keysValues(b, image, kv, first, x)
	}); err != nil {
		return err
	}
	return v.batches(ctx, image, func(first int, x []float32) error {
		if err := v.attention(ctx, b, image, kv, first, x); err != nil {
			return err
		}
		if err := v.feedForward(b, x); err != nil {
			return err
		}
		if b.outputScale != nil {
			cpu.Scale(x, b.outputScale[0])
		}
		return nil
	})
}

// batches calls f with the residual stream of each batch of patches, [patches, n],
// and the number of the first of them.
func (v *Vision) batches(ctx context.Context, image *image, f func(first int, x []float32) error) error {
	n := v.config.Width
	for first := 0; first < image.patches(); first += patchesPerBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(first+patchesPerBatch, image.patches())
		if err := f(first, image.x[first*n:end*n]); err != nil {
			return err
		}
	}
	return nil
}

// feedForward adds rms(mlp(rms(x; ln2)); ffn_post_norm) to x, [patches, n], with
// mlp(h) = ffn_down·(gelu(ffn_gate·h) ⊙ (ffn_up·h)).
func (v *Vision) feedForward(b *visionBlock, x []float32) error {
	n, eps := len(x)/v.config.Width, v.config.Eps
	h := make([]float32, len(x))
	kernel.Best.RMSNorm(h, x, b.ffnNorm, eps)
	gate := make([]float32, n*v.config.FeedForward)
	up := make([]float32, n*v.config.FeedForward)
	if err := b.gate.apply(v.cores, n, h, gate); err != nil {
		return err
	}
	if err := b.up.apply(v.cores, n, h, up); err != nil {
		return err
	}
	if err := v.cores.Each(len(gate), activationsPerPart, func(from, to int) error {
		kernel.Best.GatedGelu(gate[from:to], up[from:to])
		return nil
	}); err != nil {
		return err
	}
	if err := b.down.apply(v.cores, n, gate, h); err != nil {
		return err
	}
	kernel.Best.RMSNorm(h, h, b.ffnPostNorm, eps)
	cpu.Add(x, h)
	return nil
}

// activationsPerPart is how many activations are worth handing to another core.
const activationsPerPart = 1 << 12
