package bench

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// attentionShape is a layer's attention over depth cached positions.
type attentionShape struct {
	heads, kvHeads, headDim int
	window                  int // 0 for all positions
	depth                   int
	width                   int
}

// attentionCases are E2B's two kinds of layers, and 31B's.
func attentionCases(dev *wgslkit.Device) (cases []opCase) {
	depths, prompt := []int{512, 4096, 32768}, 512
	if dev.Info().Kind == wgslkit.CPU {
		depths, prompt = []int{512, 4096}, 64
	}
	shapes := []attentionShape{
		{8, 1, 256, 512, 512, 1},
		{32, 16, 256, 1024, 1024, 1},
	}
	for _, depth := range depths {
		shapes = append(shapes, attentionShape{8, 1, 512, 0, depth, 1}, attentionShape{32, 4, 512, 0, depth, 1})
	}
	shapes = append(shapes, attentionShape{8, 1, 256, 512, 512, prompt}, attentionShape{8, 1, 512, 0, 4096, prompt})
	for _, s := range shapes {
		cases = append(cases, s.opCase())
	}
	return cases
}

func (s attentionShape) opCase() opCase {
	kind := "global"
	if s.window > 0 {
		kind = fmt.Sprintf("window %d", s.window)
	}
	seen := int64(s.depth)
	return opCase{
		op: "attention", shape: fmt.Sprintf("%d/%d heads of %d, %s, %d tokens at %d", s.heads, s.kvHeads, s.headDim, kind, s.width, s.depth),
		bytes: 2 * 2 * seen * int64(s.kvHeads*s.headDim),                // keys and values in f16
		flops: 2 * 2 * seen * int64(s.heads*s.headDim) * int64(s.width), // about: a window slides over the tokens
		width: s.width, setUp: s.setUp,
	}
}

func (s attentionShape) setUp(b *opBench) (func(*ops.Recorder, int), error) {
	slots := s.depth + s.width
	if s.window > 0 {
		slots = s.window + s.width
	}
	cache, err := b.kit.NewKVCache("cache", slots, s.kvHeads, s.headDim)
	if err != nil {
		return nil, err
	}
	b.release = append(b.release, cache.Release)
	rope, err := b.kit.NewRope("rope", 10000, s.headDim, nil)
	if err != nil {
		return nil, err
	}
	b.release = append(b.release, rope.Release)
	n := s.heads * s.headDim
	q, out, norm := b.values("q", s.width*n), b.values("out", s.width*n), b.values("norm", s.headDim)
	b.at(s.depth-1, s.width)
	return func(r *ops.Recorder, _ int) {
		partials := r.Attention(ops.Attention{
			Label: "attention", Q: ops.All(q), QNorm: norm, Eps: 1e-6, Rope: rope, Heads: s.heads,
			Cache: cache, Window: s.window, Out: out,
		})
		if partials != nil {
			r.Merge("merge", partials, out)
		}
	}, b.err
}
