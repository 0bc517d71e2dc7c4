package cpu

import (
	"context"
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gemma4/cpu"
)

// keysValues holds what every patch of an image shows to the others, [patches,
// heads, D]: keys normed and rotated, values normed without weights.
type keysValues struct{ k, v []float32 }

// keysValues computes the keys and values of a batch of patches.
func (v *Vision) keysValues(b *visionBlock, image *image, kv *keysValues, first int, x []float32) error {
	c := v.config
	n, at := len(x)/c.Width, first*c.Width
	h := make([]float32, len(x))
	cpu.RMSNorm(h, x, b.attnNorm, c.Eps)
	keys, values := kv.k[at:at+len(x)], kv.v[at:at+len(x)]
	if err := b.k.apply(v.cores, n, h, keys); err != nil {
		return err
	}
	if err := b.v.apply(v.cores, n, h, values); err != nil {
		return err
	}
	cpu.RMSNorm(keys, keys, b.kNorm, c.Eps)
	image.rotation.apply(keys, first, c.Heads)
	cpu.RMSNormPlain(values, values, c.HeadDim(), c.Eps)
	return nil
}

// attention adds rms(attn_out·attn(rms(x; ln1)); attn_post_norm) to a batch of
// patches, each of which sees every patch. The scores are q·k, with no scale.
func (v *Vision) attention(ctx context.Context, b *visionBlock, image *image, kv *keysValues, first int, x []float32) error {
	c := v.config
	n := len(x) / c.Width
	h := make([]float32, len(x))
	cpu.RMSNorm(h, x, b.attnNorm, c.Eps)
	q := make([]float32, len(x))
	if err := b.q.apply(v.cores, n, h, q); err != nil {
		return err
	}
	cpu.RMSNorm(q, q, b.qNorm, c.Eps)
	image.rotation.apply(q, first, c.Heads)
	if err := v.attend(ctx, q, kv); err != nil {
		return err
	}
	if err := b.attnOutput.apply(v.cores, n, q, h); err != nil {
		return err
	}
	cpu.RMSNorm(h, h, b.attnPostNorm, c.Eps)
	cpu.Add(x, h)
	return nil
}

// attend replaces each query, [patches, heads, D], by Σ softmax(q·kⱼ)·vⱼ over all
// patches j. A core holds the scores of one query at a time.
func (v *Vision) attend(ctx context.Context, q []float32, kv *keysValues) error {
	width, heads, headDim := v.config.Width, v.config.Heads, v.config.HeadDim()
	queries, keys := len(q)/headDim, len(kv.k)/width
	return v.cores.Each(queries, mulsPerPart/(2*keys*headDim), func(from, to int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		memory := scorePool.Get().(*[]float32)
		defer scorePool.Put(memory)
		*memory = slices.Grow((*memory)[:0], keys)
		scores := (*memory)[:keys]
		for i := from; i < to; i++ {
			query, head := q[i*headDim:(i+1)*headDim], i%heads*headDim
			for j := range scores {
				at := j*width + head
				scores[j] = cpu.Dot(query, kv.k[at:at+headDim])
			}
			sum := cpu.Softmax(scores)
			clear(query)
			for j, p := range scores {
				at := j*width + head
				cpu.Axpy(p, kv.v[at:at+headDim], query)
			}
			cpu.Scale(query, float32(1/sum))
		}
		return nil
	})
}

// scorePool holds one slice of scores for each core at work.
var scorePool = sync.Pool{New: func() any { return new([]float32) }}
