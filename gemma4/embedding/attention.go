package embedding

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/cpu"
)

// attention is x = x + rms(attn_output·attn(h); post_attention_norm) with
// h = rms(x; attn_norm). Keys and queries are normed per head with weights and
// rotated, values normed without. The scores are q·k, with no scale.
func (p *pass) attention(ctx context.Context, i int) error {
	l, c := &p.layers[i], p.config
	headDim, kvDim := c.HeadDim(i), c.KVDim(i)
	cpu.RMSNorm(p.h, p.x, l.attnNorm, c.Eps)

	q, k, v := make([]float32, p.tokens*c.QueryDim(i)), make([]float32, p.tokens*kvDim), make([]float32, p.tokens*kvDim)
	if err := p.cores.Mul(p.tokens, l.q, p.h, q); err != nil {
		return err
	}
	if err := p.cores.Mul(p.tokens, l.k, p.h, k); err != nil {
		return err
	}
	if c.KEqualsV(i) {
		copy(v, k)
	} else if err := p.cores.Mul(p.tokens, l.v, p.h, v); err != nil {
		return err
	}
	cpu.RMSNorm(q, q, l.qNorm, c.Eps)
	cpu.RMSNorm(k, k, l.kNorm, c.Eps)
	cpu.RMSNormPlain(v, v, headDim, c.Eps)
	p.rotate(i, q, c.Heads)
	p.rotate(i, k, c.KVHeads(i))

	for input := range p.inputs {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, to := p.starts[input], p.starts[input+1]
		of := func(x []float32, width int) []float32 { return x[from*width : to*width] }
		if err := p.attend(i, of(q, c.QueryDim(i)), of(k, kvDim), of(v, kvDim)); err != nil {
			return err
		}
	}
	if err := p.cores.Mul(p.tokens, l.attnOutput, q, p.h); err != nil {
		return err
	}
	cpu.RMSNorm(p.h, p.h, l.postAttentionNorm, c.Eps)
	cpu.Add(p.x, p.h)
	return nil
}

// rotate turns vectors [tokens, heads, D] by their places in their own input.
func (p *pass) rotate(i int, x []float32, heads int) {
	width, turn := heads*p.config.HeadDim(i), p.turn[p.config.IsSliding(i)]
	for input := range p.inputs {
		first := p.starts[input]
		for t := range p.inputs[input].Tokens {
			turn.Turn(x[(first+t)*width:(first+t+1)*width], heads, t)
		}
	}
}

// attend replaces each query of an input, [tokens, H, D], by Σ softmax(q·kⱼ)·vⱼ over
// the tokens that it sees.
func (p *pass) attend(i int, q, k, v []float32) error {
	c := p.config
	headDim, kvDim := c.HeadDim(i), c.KVDim(i)
	group := c.Heads / c.KVHeads(i) // query heads that read the same kv head
	tokens := len(k) / kvDim
	radius := tokens
	if c.IsSliding(i) {
		radius = c.SlidingWindow
	}
	const mulsPerPart = 1 << 16
	grain := mulsPerPart / (2 * min(tokens, 2*radius+1) * headDim)
	return p.cores.Each(tokens*c.Heads, grain, func(from, to int) error {
		scores := make([]float32, min(tokens, 2*radius+1))
		for at := from; at < to; at++ {
			t, head := at/c.Heads, at%c.Heads
			first, end := max(0, t-radius), min(tokens, t+radius+1)
			offset := first*kvDim + head/group*headDim
			query, scores := q[at*headDim:(at+1)*headDim], scores[:end-first]
			cpu.Scores(scores, query, k[offset:], kvDim)
			sum := cpu.Softmax(scores)
			clear(query)
			cpu.WeightedSum(query, scores, v[offset:], kvDim)
			cpu.Scale(query, float32(1/sum))
		}
		return nil
	})
}
