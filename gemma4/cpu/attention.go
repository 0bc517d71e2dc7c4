package cpu

import (
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

// keysValues computes the keys and values of a layer that owns them, from the
// normed h, and puts them into the cache: k = rms(k; attn_k_norm), rotated, and
// v = rms(v). Where K = V, v comes from the raw keys.
func (m *Model) keysValues(s *step, i int) error {
	l, c := &m.layers[i], m.config
	headDim, dim := c.HeadDim(i), c.KVDim(i)
	k := make([]float32, s.tokens*dim)
	v := make([]float32, s.tokens*dim)
	products := []product{whole(l.k, s.h, k)}
	if l.v != nil {
		products = append(products, whole(l.v, s.h, v))
	}
	if err := m.mul(s.tokens, products...); err != nil {
		return err
	}
	if l.v == nil {
		copy(v, k)
	}
	rmsNorm(k, k, l.kNorm, c.Eps)
	s.rotation(c.IsSliding(i)).apply(k, c.KVHeads(i))
	rmsNormPlain(v, v, headDim, c.Eps)
	s.cache.layers[i].put(s.first, k, v)
	return nil
}

// attention computes attn_output·attn(h) of the normed h into h. The scores are
// q·k, with no scale.
func (m *Model) attention(s *step, i int) error {
	l, c := &m.layers[i], m.config
	q := make([]float32, s.tokens*c.QueryDim(i))
	if err := m.mul(s.tokens, whole(l.q, s.h, q)); err != nil {
		return err
	}
	rmsNorm(q, q, l.qNorm, c.Eps)
	s.rotation(c.IsSliding(i)).apply(q, c.Heads)
	if err := m.attend(s, i, q); err != nil {
		return err
	}
	return m.mul(s.tokens, whole(l.attnOutput, q, s.h))
}

// attend replaces each query head, [tokens, H, D], by what it sees.
func (m *Model) attend(s *step, i int, q []float32) error {
	c := m.config
	headDim := c.HeadDim(i)
	group := c.Heads / c.KVHeads(i) // query heads that read the same kv head
	cache := s.cache.layers[c.KVDonor(i)]
	longest := s.first + s.tokens
	if c.IsSliding(i) {
		longest = min(longest, 2*c.SlidingWindow)
	}
	grain := mulsPerPart / (2 * longest * headDim)
	return m.threads.each(s.tokens*c.Heads, grain, func(from, to int) error {
		scores := scorePool.Get().(*[]float32)
		defer scorePool.Put(scores)
		for th := from; th < to; th++ {
			t, h := th/c.Heads, th%c.Heads
			first, end := s.visible(c.IsSliding(i), t)
			*scores = cache.head(q[th*headDim:(th+1)*headDim], h/group, first, end, *scores)
		}
		return nil
	})
}

// scorePool holds one slice of scores for each core at work.
var scorePool = sync.Pool{New: func() any { return new([]float32) }}

// head replaces one query by Σ softmax(q·kⱼ)·vⱼ over the positions first ≤ j < end
// of one kv head. It returns the memory for scores, which it may have grown.
func (c *layerCache) head(q []float32, kvHead, first, end int, scores []float32) []float32 {
	scores = slices.Grow(scores[:0], end-first)[:end-first]
	for j, n := first, 0; j < end; j += n {
		n = c.run(j, end)
		kernel.Best.Scores(scores[j-first:][:n], q, c.k[c.slot(j)*c.dim+kvHead*len(q):], c.dim)
	}
	sum := softmax(scores)
	clear(q)
	for j, n := first, 0; j < end; j += n {
		n = c.run(j, end)
		kernel.Best.WeightedSum(q, scores[j-first:][:n], c.v[c.slot(j)*c.dim+kvHead*len(q):], c.dim)
	}
	scale(q, float32(1/sum))
	return scores
}
