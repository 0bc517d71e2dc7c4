package cpu

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/arch"
)

// Assistant drafts what a Model will say next; see arch.Assistant for its
// formulas. It computes with the Model's cores, reads its caches and writes none. It
// may be used by many goroutines at a time, and ends with the Model.
type Assistant struct {
	target  *Model
	decoder *Model // of which only the layers and the head are used

	preProjection  *matrix // [d, 2·(target's d)]
	postProjection *matrix // [target's d, d]
	centroids      *matrix // [clusters, d]; nil for logits of the whole vocabulary
	clusters       *arch.Clusters
}

// NewAssistant decodes the weights of an assistant of the model target was made
// from. Of the options, only the budget and the report of progress count.
func NewAssistant(ctx context.Context, target *Model, a *arch.Assistant, options Options) (*Assistant, error) {
	o, err := options.filled()
	if err != nil {
		return nil, err
	}
	x := &Assistant{
		target:   target,
		decoder:  &Model{config: a.Decoder.Config, batch: 1, threads: target.threads, yield: target.yield},
		clusters: a.Clusters,
	}
	l := &loader{ctx: ctx, threads: target.threads, progress: o.Progress, whole: o.Whole}
	l.model(x.decoder, a.Decoder)
	x.preProjection, x.postProjection = l.weights(a.PreProjection), l.weights(a.PostProjection)
	if a.Clusters != nil {
		x.centroids = l.weights(a.Clusters.Centroids)
	}
	if err := l.decode(o.WeightBudget); err != nil {
		return nil, fmt.Errorf("loading the assistant for the CPU: %w", err)
	}
	return x, nil
}

// DraftStep is what one step of drafting leaves.
type DraftStep struct {
	Token  int32     // the one with the largest logit, the lowest of equals
	Hidden []float32 // [target's d], for the next step
	// Logits are those of Tokens, or of the whole vocabulary where that is nil.
	Logits []float32
	Tokens []int32
}

// Draft drafts len(into) tokens behind the token chosen last, which is not in the
// cache yet. hidden is the output of the final norm at the cache's last position,
// from which that token was chosen.
func (x *Assistant) Draft(ctx context.Context, cache *Cache, token int32, hidden []float32, into []int32) error {
	for i := range into {
		step, err := x.Step(ctx, cache, token, hidden)
		if err != nil {
			return err
		}
		into[i], token, hidden = step.Token, step.Token, step.Hidden
	}
	return nil
}

// Step drafts the token behind another one, from hidden: what Draft begins with, or
// the step before left.
func (x *Assistant) Step(ctx context.Context, cache *Cache, token int32, hidden []float32) (DraftStep, error) {
	if err := ctx.Err(); err != nil {
		return DraftStep{}, err
	}
	if cache.config != x.target.config || cache.length == 0 || len(hidden) != x.target.config.EmbeddingLength ||
		token < 0 || int(token) >= x.target.config.Vocab {
		return DraftStep{}, fmt.Errorf("a draft behind token %d from %d values and a cache of %d positions: %w", token,
			len(hidden), cache.length, ErrInput)
	}
	s, err := x.begin(cache, token, hidden)
	if err != nil {
		return DraftStep{}, err
	}
	for i := range x.decoder.layers {
		x.target.yield()
		if err := x.decoder.layer(s, i); err != nil {
			return DraftStep{}, fmt.Errorf("layer %d of the assistant: %w", i, err)
		}
	}
	rmsNorm(s.h, s.x, x.decoder.outputNorm, x.decoder.config.Eps)
	return x.end(s.h)
}

// begin is x = PreProjection·[e; h], at the position behind the cache's.
func (x *Assistant) begin(cache *Cache, token int32, hidden []float32) (*step, error) {
	wide, c := x.target.config.EmbeddingLength, x.decoder.config
	both := make([]float32, 2*wide)
	if err := x.target.embed(both[:wide], Tokens([]int32{token})); err != nil {
		return nil, err
	}
	copy(both[wide:], hidden)
	s := &step{
		cache: cache, window: c.SlidingWindow, first: cache.length, tokens: 1, kept: 1, keyless: true,
		x: make([]float32, c.EmbeddingLength), h: make([]float32, c.EmbeddingLength), imageStart: []int{0},
		imageEnd: []int{0},
	}
	x.decoder.rotations(s)
	return s, x.decoder.mul(1, whole(x.preProjection, both, s.x))
}

// end is the choice from y, and h' = PostProjection·y.
func (x *Assistant) end(y []float32) (DraftStep, error) {
	d := DraftStep{Hidden: make([]float32, x.postProjection.rows)}
	err := x.decoder.mul(1, whole(x.postProjection, y, d.Hidden))
	if err == nil && x.clusters == nil {
		d.Logits = make([]float32, x.decoder.output.rows)
		err = x.decoder.mul(1, whole(x.decoder.output, y, d.Logits))
	} else if err == nil {
		d.Logits, d.Tokens, err = x.clusterLogits(y)
	}
	if err != nil {
		return DraftStep{}, err
	}
	best := 0
	for i, v := range d.Logits {
		if v > d.Logits[best] || v == d.Logits[best] && d.token(i) < d.token(best) {
			best = i
		}
	}
	d.Token = d.token(best)
	return d, nil
}

func (d *DraftStep) token(i int) int32 {
	if d.Tokens == nil {
		return int32(i)
	}
	return d.Tokens[i]
}

// clusterLogits are the logits of the tokens of those clusters whose centroids give
// the largest products with y.
func (x *Assistant) clusterLogits(y []float32) ([]float32, []int32, error) {
	products := make([]float32, x.clusters.Count())
	if err := x.decoder.mul(1, whole(x.centroids, y, products)); err != nil {
		return nil, nil, err
	}
	var tokens []int32
	for _, c := range topK(products, x.clusters.Used) {
		tokens = append(tokens, x.clusters.Ordering[c*x.clusters.Size():][:x.clusters.Size()]...)
	}
	logits := make([]float32, len(tokens))
	err := x.target.threads.each(len(tokens), max(1, mulsPerPart/len(y)), func(from, to int) error {
		scratch := scratchPool.Get().(*scratch)
		defer scratchPool.Put(scratch)
		for i := from; i < to; i++ {
			row, err := x.decoder.output.read(scratch, int(tokens[i]), 1)
			if err != nil {
				return err
			}
			logits[i] = dot(row, y)
		}
		return nil
	})
	return logits, tokens, err
}
