package cpu

import (
	"context"
	"fmt"
)

// row is one token of a step over several texts: the next one behind what its cache holds.
type row struct {
	cache    *Cache
	position int
}

// ForwardRows runs one token of each of several texts, each behind what its own cache
// holds, and adds it to that: token i to caches[i]. Each row of weights is read once for
// all of them. The logits are those behind each, after the softcap, [tokens, vocab].
//
// It fails like Forward, with ErrInput too where two tokens are of one cache. After an error
// all caches hold what they held before.
func (m *Model) ForwardRows(ctx context.Context, caches []*Cache, tokens []int32) ([]float32, error) {
	if err := m.checkRows(caches, tokens); err != nil {
		return nil, err
	}
	s := &step{rows: make([]row, len(tokens)), kept: len(tokens)}
	for i, c := range caches {
		s.rows[i] = row{c, c.length}
		c.reserve(1)
	}
	if err := m.begin(s, Tokens(tokens)); err != nil {
		return nil, err
	}
	logits, err := m.run(ctx, s, Want{Logits: AllLogits})
	if err != nil {
		return nil, err
	}
	for _, c := range caches {
		c.length++
	}
	return logits, nil
}

func (m *Model) checkRows(caches []*Cache, tokens []int32) error {
	if len(caches) != len(tokens) || len(tokens) == 0 {
		return fmt.Errorf("%d tokens for %d caches: %w", len(tokens), len(caches), ErrInput)
	}
	seen := make(map[*Cache]bool, len(caches))
	for i, c := range caches {
		if seen[c] {
			return fmt.Errorf("token %d is the second one for its cache: %w", i, ErrInput)
		}
		seen[c] = true
		if err := m.checkInputs(c, Tokens(tokens[i:i+1])); err != nil {
			return fmt.Errorf("token %d: %w", i, err)
		}
	}
	return nil
}

// attendRows is attend for tokens of several texts, each of which reads a cache of its own.
func (m *Model) attendRows(s *step, i int, q []float32) error {
	c := m.config
	headDim, group := c.HeadDim(i), c.Heads/c.KVHeads(i)
	longest := 1
	for t := range s.rows {
		first, end := s.visible(c.IsSliding(i), t)
		longest = max(longest, end-first)
	}
	// A part is whole kv heads of tokens, so that heads that read the same keys share them.
	n, grain := s.tokens*c.KVHeads(i), mulsPerPart/(2*longest*headDim*group)
	return m.threads.each(n, grain, func(from, to int) error {
		a := attentionPool.Get().(*attention)
		defer a.putBack()
		for ; from < to; from++ {
			t, kvHead := from/c.KVHeads(i), from%c.KVHeads(i)
			first, end := s.visible(c.IsSliding(i), t)
			a.queries = a.queries[:0]
			for h := kvHead * group; h < (kvHead+1)*group; h++ {
				at := (t*c.Heads + h) * headDim
				a.add(q[at:at+headDim], first, end)
			}
			a.run(s.rows[t].cache.layers[c.KVDonor(i)], kvHead)
		}
		return nil
	})
}
