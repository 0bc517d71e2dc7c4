package cpu

import (
	"context"
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

// keysValues holds what every patch of an image shows to the others: keys normed
// and rotated, values normed without weights. Both lie as [heads, D, patches], so
// that what a query does with all patches is done with long runs of numbers.
type keysValues struct {
	k, v    []float32
	patches int
}

func newKeysValues(patches, width int) *keysValues {
	return &keysValues{k: make([]float32, patches*width), v: make([]float32, patches*width), patches: patches}
}

// of is one value of a head, of all patches.
func (kv *keysValues) of(x []float32, i int) []float32 { return x[i*kv.patches : (i+1)*kv.patches] }

// put writes vectors [patches, width] of the patches from first on into x.
func (kv *keysValues) put(x, vectors []float32, first, width int) {
	for i := range width {
		row := kv.of(x, i)[first:]
		for patch := range len(vectors) / width {
			row[patch] = vectors[patch*width+i]
		}
	}
}

// keysValues computes the keys and values of a batch of patches.
func (v *Vision) keysValues(b *visionBlock, image *image, kv *keysValues, first int, x []float32) error {
	c := v.config
	n := len(x) / c.Width
	h, y := make([]float32, len(x)), make([]float32, len(x))
	kernel.Best.RMSNorm(h, x, b.attnNorm, c.Eps)
	if err := b.k.apply(v.cores, n, h, y); err != nil {
		return err
	}
	kernel.Best.RMSNorm(y, y, b.kNorm, c.Eps)
	image.rotation.apply(y, first, c.Heads)
	kv.put(kv.k, y, first, c.Width)
	if err := b.v.apply(v.cores, n, h, y); err != nil {
		return err
	}
	kernel.Best.RMSNormPlain(y, y, c.HeadDim(), c.Eps)
	kv.put(kv.v, y, first, c.Width)
	return nil
}

// attention adds rms(attn_out·attn(rms(x; ln1)); attn_post_norm) to a batch of
// patches, each of which sees every patch. The scores are q·k, with no scale.
func (v *Vision) attention(ctx context.Context, b *visionBlock, image *image, kv *keysValues, first int,
	x []float32) error {
	c := v.config
	n := len(x) / c.Width
	h := make([]float32, len(x))
	kernel.Best.RMSNorm(h, x, b.attnNorm, c.Eps)
	q := make([]float32, len(x))
	if err := b.q.apply(v.cores, n, h, q); err != nil {
		return err
	}
	kernel.Best.RMSNorm(q, q, b.qNorm, c.Eps)
	image.rotation.apply(q, first, c.Heads)
	if err := v.attend(ctx, q, kv); err != nil {
		return err
	}
	if err := b.attnOutput.apply(v.cores, n, q, h); err != nil {
		return err
	}
	kernel.Best.RMSNorm(h, h, b.attnPostNorm, c.Eps)
	cpu.Add(x, h)
	return nil
}

// attend replaces each query, [patches, heads, D], by Σ softmax(q·kⱼ)·vⱼ over all
// patches j. A core holds the scores of one query at a time.
func (v *Vision) attend(ctx context.Context, q []float32, kv *keysValues) error {
	heads, headDim := v.config.Heads, v.config.HeadDim()
	return v.cores.Each(len(q)/headDim, mulsPerPart/(2*kv.patches*headDim), func(from, to int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		memory := scorePool.Get().(*[]float32)
		defer scorePool.Put(memory)
		*memory = slices.Grow((*memory)[:0], kv.patches)
		for i := from; i < to; i++ {
			kv.attend(q[i*headDim:(i+1)*headDim], i%heads*headDim, (*memory)[:kv.patches])
		}
		return nil
	})
}

// attend replaces one query of the head that starts at value first.
func (kv *keysValues) attend(query []float32, first int, scores []float32) {
	clear(scores)
	for d, q := range query {
		kernel.Best.Axpy(q, kv.of(kv.k, first+d), scores)
	}
	sum := kernel.Best.Softmax(scores)
	for d := range query {
		query[d] = float32(float64(kernel.Best.Dot(scores, kv.of(kv.v, first+d))) / sum)
	}
}

// scorePool holds one slice of scores for each core at work.
var scorePool = sync.Pool{New: func() any { return new([]float32) }}
