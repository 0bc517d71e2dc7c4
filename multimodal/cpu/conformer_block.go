package cpu

import (
	"math"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// conformerBlock holds one block's norms and linears.
type conformerBlock struct {
	ffn1, ffn2             halfStep
	attnNorm, attnPostNorm []float32
	q, k, v, attnOutput    linear
	perDimScale            []float32
	linearPos              cpu.Matrix // [n, n]
	lightConv              lightConv
	norm                   []float32
}

// halfStep holds one of a block's two feed-forwards.
type halfStep struct {
	norm, postNorm []float32
	up, down       linear
}

func (r *reader) conformerBlock(a *arch.AudioLayer) conformerBlock {
	return conformerBlock{
		ffn1: r.halfStep(&a.FFN1), ffn2: r.halfStep(&a.FFN2),
		attnNorm: r.vector(a.AttnNorm), attnPostNorm: r.vector(a.AttnPostNorm),
		q: r.linear(&a.Q), k: r.linear(&a.K), v: r.linear(&a.V), attnOutput: r.linear(&a.AttnOutput),
		perDimScale: r.vector(a.PerDimScale),
		linearPos:   cpu.NewMatrix(a.LinearPos, 0),
		lightConv:   r.lightConv(a),
		norm:        r.vector(a.Norm),
	}
}

func (r *reader) halfStep(a *arch.AudioFeedForward) halfStep {
	return halfStep{norm: r.vector(a.Norm), postNorm: r.vector(a.PostNorm), up: r.linear(&a.Up),
		down: r.linear(&a.Down)}
}

// block runs one block over the positions of a clip, x [positions, n]: half a
// feed-forward, attention, light convolution, the other half, and a norm.
func (a *Audio) block(b *conformerBlock, x []float32) error {
	if err := a.halfStep(&b.ffn1, x); err != nil {
		return err
	}
	if err := a.attention(b, x); err != nil {
		return err
	}
	if err := a.lightConv(&b.lightConv, x); err != nil {
		return err
	}
	if err := a.halfStep(&b.ffn2, x); err != nil {
		return err
	}
	kernel.Best.RMSNorm(x, x, b.norm, a.config.Eps)
	return nil
}

// halfStep is x = x + ½·rms(ffn_down·silu(ffn_up·rms(x; ffn_norm)); ffn_post_norm).
func (a *Audio) halfStep(f *halfStep, x []float32) error {
	n, eps := len(x)/a.config.Width, a.config.Eps
	h := make([]float32, len(x))
	kernel.Best.RMSNorm(h, x, f.norm, eps)
	up := make([]float32, n*a.config.FeedForward)
	if err := f.up.apply(a.cores, n, h, up); err != nil {
		return err
	}
	if err := a.silu(up); err != nil {
		return err
	}
	if err := f.down.apply(a.cores, n, up, h); err != nil {
		return err
	}
	kernel.Best.RMSNorm(h, h, f.postNorm, eps)
	kernel.Best.Axpy(0.5, h, x)
	return nil
}

// silu is x = x·σ(x).
func (a *Audio) silu(x []float32) error {
	return a.cores.Each(len(x), activationsPerPart, func(from, to int) error {
		for i := from; i < to; i++ {
			x[i] = float32(float64(x[i]) * sigmoid(x[i]))
		}
		return nil
	})
}

func sigmoid(x float32) float64 { return 1 / (1 + math.Exp(-float64(x))) }
