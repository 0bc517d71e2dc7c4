package measure

import (
	"fmt"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// attentionShape is a layer's attention over depth cached positions.
type attentionShape struct {
	heads, kvHeads, headDim int
	window                  int // 0 for all positions
	depth                   int
	width                   int
	cache                   quant.Type
}

// attentionCases are E2B's two kinds of layers, and 31B's.
func attentionCases(dev *wgslkit.Device) (cases []opCase) {
	depths, prompt := []int{512, 4096, 32768}, 512
	if dev.Info().Kind == wgslkit.CPU {
		depths, prompt = []int{512, 4096}, 64
	}
	shapes := []attentionShape{
		{8, 1, 256, 512, 512, 1, quant.F16},
		{32, 16, 256, 1024, 1024, 1, quant.F16},
	}
	for _, depth := range depths {
		shapes = append(shapes, attentionShape{8, 1, 512, 0, depth, 1, quant.F16},
			attentionShape{32, 4, 512, 0, depth, 1, quant.F16})
	}
	deepest := depths[len(depths)-1]
	shapes = append(shapes,
		attentionShape{8, 1, 512, 0, deepest, 1, quant.Q8_0}, attentionShape{32, 4, 512, 0, deepest, 1, quant.Q8_0},
		attentionShape{8, 1, 256, 512, 512, prompt, quant.F16}, attentionShape{8, 1, 512, 0, 4096, prompt, quant.F16},
		attentionShape{8, 1, 512, 0, 4096, prompt, quant.Q8_0})
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
	if s.cache == quant.Q8_0 {
		kind += ", q8"
	}
	seen := s.cacheShape()
	seen.Slots = s.depth
	return opCase{
		op: "attention", shape: fmt.Sprintf("%d/%d heads of %d, %s, %d tokens at %d", s.heads, s.kvHeads, s.headDim,
			kind, s.width, s.depth),
		bytes: seen.Bytes(),
		// about: a window slides over the tokens
		flops: 2 * 2 * int64(s.depth) * int64(s.heads*s.headDim) * int64(s.width),
		width: s.width, setUp: s.setUp,
	}
}

func (s attentionShape) cacheShape() ops.CacheShape {
	slots := s.depth + s.width
	if s.window > 0 {
		slots = s.window + s.width
	}
	return ops.CacheShape{Slots: slots, KVHeads: s.kvHeads, HeadDim: s.headDim, Type: s.cache}
}

func (s attentionShape) setUp(b *opBench) (func(*ops.Recorder, int), error) {
	cache, err := b.kit.NewKVCache("cache", s.cacheShape())
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
