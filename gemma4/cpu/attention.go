package cpu

import (
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/quant"
)

// keysValues computes the keys and values of a layer that owns them, from the
// normed h, and puts them into the cache: k = rms(k; attn_k_norm), rotated, and
// v = rms(v) in families that norm values. Where K = V, v comes from the raw keys.
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
	if !c.PlainValues {
		rmsNormPlain(v, v, headDim, c.Eps)
	}
	if s.rows != nil {
		for t, r := range s.rows {
			r.cache.layers[i].put(r.position, k[t*dim:(t+1)*dim], v[t*dim:(t+1)*dim])
		}
		return nil
	}
	s.cache.layers[i].put(s.first, k, v)
	return nil
}

// attention computes attn_output·attn(h) of the normed h into h. The scores are
// q·k times the family's scale.
func (m *Model) attention(s *step, i int) error {
	l, c := &m.layers[i], m.config
	q := make([]float32, s.tokens*c.QueryDim(i))
	if err := m.mul(s.tokens, whole(l.q, s.h, q)); err != nil {
		return err
	}
	rmsNorm(q, q, l.qNorm, c.Eps)
	s.rotation(c.IsSliding(i)).apply(q, c.Heads)
	if f := c.ScoreScale(); f != 1 {
		scale(q, f)
	}
	if err := m.attend(s, i, q); err != nil {
		return err
	}
	return m.mul(s.tokens, whole(l.attnOutput, q, s.h))
}

// attend replaces each query head, [tokens, H, D], by what it sees.
func (m *Model) attend(s *step, i int, q []float32) error {
	if s.rows != nil {
		return m.attendRows(s, i, q)
	}
	c := m.config
	headDim := c.HeadDim(i)
	group := c.Heads / c.KVHeads(i) // query heads that read the same kv head
	cache := s.cache.layers[c.KVDonor(i)]
	longest := s.first + s.tokens
	if c.IsSliding(i) {
		longest = min(longest, 2*c.SlidingWindow)
	}
	n := s.tokens * c.Heads
	together := cache.together()
	grain := max(mulsPerPart/(2*longest*headDim), min(together, n/m.threads.n))
	return m.threads.each(n, grain, func(from, to int) error {
		a := attentionPool.Get().(*attention)
		defer a.putBack()
		for from < to {
			// Queries in the order of the kv heads that they read, so that those side by
			// side share them.
			kvHead := from / (s.tokens * group)
			end := min(to, from+together, (kvHead+1)*s.tokens*group)
			a.queries = a.queries[:0]
			for ; from < end; from++ {
				t, h := from/group%s.tokens, kvHead*group+from%group
				at := (t*c.Heads + h) * headDim
				first, last := s.visible(c.IsSliding(i), t)
				a.add(q[at:at+headDim], first, last)
			}
			a.run(cache, kvHead)
		}
		return nil
	})
}

// together is how many queries are worth to go over the keys side by side: one
// where keys are read from memory, more where they are decoded first.
func (c *layerCache) together() int {
	if c.k.typ == quant.F32 {
		return 1
	}
	return 32
}

// decodedAtOnce is how many slots are decoded before they are used.
const decodedAtOnce = 64

// attention is what queries of one kv head are computed with.
type attention struct {
	queries []query
	decoded []float32
}

// query is a query, replaced by what it sees of the positions first ≤ j < end.
type query struct {
	q          []float32
	first, end int
	scores     []float32
	sum        float64 // of the scores' exponentials
}

// attentionPool holds one attention for each core at work.
var attentionPool = sync.Pool{New: func() any { return new(attention) }}

// putBack gives a to whoever computes next, without the queries' memory.
func (a *attention) putBack() {
	all := a.queries[:cap(a.queries)]
	for i := range all {
		all[i].q = nil
	}
	attentionPool.Put(a)
}

func (a *attention) add(q []float32, first, end int) {
	var scores []float32
	if n := len(a.queries); n < cap(a.queries) {
		scores = a.queries[:n+1][n].scores // of an earlier query
	}
	scores = slices.Grow(scores[:0], end-first)[:end-first]
	a.queries = append(a.queries, query{q: q, first: first, end: end, scores: scores})
}

// run replaces each query by Σ softmax(q·kⱼ)·vⱼ over its positions of a kv head.
func (a *attention) run(c *layerCache, kvHead int) {
	a.each(c, &c.k, kvHead, func(o *query, from, to int, k []float32, stride int) {
		kernel.Best.Scores(o.scores[from-o.first:to-o.first], o.q, k, stride)
	})
	for i := range a.queries {
		o := &a.queries[i]
		o.sum = softmax(o.scores)
		clear(o.q)
	}
	a.each(c, &c.v, kvHead, func(o *query, from, to int, v []float32, stride int) {
		kernel.Best.WeightedSum(o.q, o.scores[from-o.first:to-o.first], v, stride)
	})
	for _, o := range a.queries {
		scale(o.q, float32(1/o.sum))
	}
}

// each calls f for every query and each of its runs of positions from ≤ j < to whose
// rows lie stride apart.
func (a *attention) each(c *layerCache, r *rows, kvHead int,
	f func(o *query, from, to int, rows []float32, stride int)) {
	first, end := a.queries[0].first, a.queries[0].end
	for _, o := range a.queries {
		first, end = min(first, o.first), max(end, o.end)
	}
	for j, n := first, 0; j < end; j += n {
		if n = c.run(j, end); r.typ != quant.F32 {
			n = min(n, decodedAtOnce)
		}
		values, stride := r.read(a.decoded, kvHead, c.slot(j), n)
		if r.typ != quant.F32 {
			a.decoded = values
		}
		for i := range a.queries {
			o := &a.queries[i]
			if from, to := max(j, o.first), min(j+n, o.end); from < to {
				f(o, from, to, values[(from-j)*stride:], stride)
			}
		}
	}
}
