package opstest

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// shape is an op whose kernels depend on its sizes.
type shape interface {
	derived() Case
	// halved is the same with one of its sizes halved: as many as there are such sizes,
	// without those that are small enough.
	halved() []shape
}

// The sizes that derived cases keep, so that they have several tiles, and ends of tiles.
const (
	leastRows   = 150
	leastTokens = 40
	leastSlots  = 300
)

// derivedRows is how many distinct rows a derived case's matrices have: a prime, so that
// what a kernel takes from a wrong tile is wrong.
const derivedRows = 31

// Shape is an op of a program in the sizes that the program has.
type Shape struct{ of shape }

// ShapeOf is the shape of an op of a program of so many tokens. It is false for ops whose
// kernels are the same in all sizes: Cases has all of theirs.
func ShapeOf(op any, width int) (Shape, bool) {
	s := shapeOf(op, width)
	return Shape{s}, s != nil
}

// String is the same for the same shapes.
func (s Shape) String() string { return fmt.Sprintf("%T%+v", s.of, s.of) }

// Case is the shape's.
func (s Shape) Case() Case { return s.of.derived() }

// Smallest is the case of the least work that takes the same kernels on kit's device.
func (s Shape) Smallest(kit *ops.Kit) Case {
	kernels := s.Case().Kernels(kit)
	at := s.of
	for shrunk := true; shrunk; {
		shrunk = false
		for _, smaller := range at.halved() {
			if slices.Equal(smaller.derived().Kernels(kit), kernels) {
				at, shrunk = smaller, true
				break
			}
		}
	}
	return at.derived()
}

func shapeOf(op any, width int) shape {
	switch o := op.(type) {
	case ops.Linear:
		return linearOf(o, width)
	case ops.ExpertLinear:
		return expertOf(o, width)
	case ops.Attention:
		return attentionOf(o, width)
	case ops.CacheShape:
		return copyShape{kvHeads: o.KVHeads, headDim: o.HeadDim, slots: min(o.Slots, leastSlots), from: 7,
			n: min(o.Slots, leastSlots) - 1, q8: o.Type == quant.Q8_0}
	case ops.Router:
		return routerShape{width: width, tokens: tokensOf(width), experts: o.Experts, k: o.K, scaled: o.Scale != nil}
	case ops.ExpertBack:
		return expertBackOf(o, width)
	case ops.LinearBack:
		return backOf(o.W, nil, o.Add, width)
	case ops.AllRows:
		return backOf(o.W, o.LowRank, false, width)
	case ops.PackedAttention:
		return packedHeads(o.HeadDim)
	case ops.PackedAttentionBack:
		return packedHeads(o.HeadDim)
	case ops.FullAttention:
		return gridShape{heads: o.Heads, headDim: o.HeadDim, columns: 11, tokens: max(width*7/8, 1), width: width}
	}
	return nil
}

// ended ends a case whose kernels were asked for.
type ended struct{}

// Kernels are those that the case asks for on kit's device. It is rehearsed: nothing is
// computed there.
func (c Case) Kernels(kit *ops.Kit) (kernels []wgslkit.KernelID) {
	device := kit.Device().Rehearse()
	stop := device.TraceKernels()
	defer func() {
		kernels = stop()
		_ = device.Close() // nothing is on it
		if p := recover(); p != nil && p != (ended{}) {
			panic(p)
		}
	}()
	// What it computes there is wrong.
	_, _ = c.Run(context.Background(), kit.On(device).Heard(nil))
	return nil
}

// tokensOf is how many of a program's tokens a derived case has: not all of many.
func tokensOf(width int) int { return max(width-width/8, 1) }

// halfOf is n/2 as a multiple of step, false where that is below least.
func halfOf(n, step, least int) (int, bool) {
	half := n / 2 / step * step
	return half, half >= least && half > 0
}

func linearOf(o ops.Linear, width int) linearShape {
	s := linearShape{
		quant: o.W.Type, cols: o.W.Cols, rows: []int{o.W.Rows}, width: width, tokens: tokensOf(width),
		add: o.In.Add != nil, norm: o.In.Norm != nil, gated: o.Gated, mul: o.Mul != nil, act: o.Act,
		softcap: o.Softcap, bounded: o.Bounds != nil, float32s: o.Float32, distinct: derivedRows,
	}
	s.weighted = s.add && o.In.Add.Weight != nil || s.norm && o.In.Norm.Weight != nil
	if o.W.Layout == ops.Paired {
		s.rows = []int{o.W.Rows / 2, o.W.Rows / 2}
	}
	if m := o.In.Merge; m != nil {
		s.splits, s.mergeSplits, s.mergeDim = max(m.Splits-2, 1), m.Splits, m.HeadDim
	}
	if o.LowRank != nil {
		most := 0
		for _, p := range o.LowRank.Parts {
			most = max(most, p.Rank)
		}
		s.ranks = slices.Repeat([]int{most}, len(s.rows))
	}
	return s
}

func (s linearShape) derived() Case {
	c := s.toCase()
	c.Name = "as taken/" + c.Name
	return c
}

func (s linearShape) halved() (smaller []shape) {
	if half, ok := halfOf(s.rows[0], 4, leastRows); ok {
		h := s
		h.rows = slices.Repeat([]int{half}, len(s.rows))
		smaller = append(smaller, h)
	}
	if half, ok := halfOf(s.width, 1, leastTokens); ok {
		h := s
		h.width, h.tokens = half, tokensOf(half)
		smaller = append(smaller, h)
	}
	return smaller
}

func expertOf(o ops.ExpertLinear, width int) expertShape {
	s := expertShape{
		quant: o.W.Type, experts: o.W.Experts, chosen: o.K, rows: o.W.Rows / o.W.Experts, cols: o.W.Cols,
		width: width, tokens: tokensOf(width), gated: o.W.Layout == ops.Paired, allRows: o.AllRows, add: o.In.Add != nil,
		norm: o.In.Norm != nil, perSlot: o.PerSlotInput, weighted: o.Weights != nil, act: o.Act,
		grouped: o.Groups != nil, distinct: derivedRows,
	}
	if s.gated {
		s.rows /= 2
	}
	return s
}

func (s expertShape) derived() Case {
	c := s.toCase()
	c.Name = "as taken/" + c.Name
	return c
}

func (s expertShape) halved() (smaller []shape) {
	if half, ok := halfOf(s.rows, 4, leastRows); ok {
		h := s
		h.rows = half
		smaller = append(smaller, h)
	}
	if half, ok := halfOf(s.experts, 1, s.chosen); ok {
		h := s
		h.experts = half
		smaller = append(smaller, h)
	}
	if half, ok := halfOf(s.width, 1, leastTokens); ok {
		h := s
		h.width, h.tokens = half, tokensOf(half)
		smaller = append(smaller, h)
	}
	return smaller
}

func attentionOf(o ops.Attention, width int) attentionShape {
	c := o.Cache
	s := attentionShape{
		heads: o.Heads, kvHeads: c.KVHeads, headDim: c.HeadDim, slots: c.Slots, window: o.Window, width: width,
		tokens: tokensOf(width), rotated: o.Rope.Dim(), raw: o.QNorm == nil, softcap: float64(o.Softcap),
		q8: c.Type == quant.Q8_0, stores: o.Store != nil,
		plainV:  o.Store != nil && o.Store.PlainV,
		streams: c.Streams > 0, apart: o.Rows,
	}
	if o.Scale != 1 {
		s.scale = float64(o.Scale)
	}
	if o.Spans != nil {
		s.spans = spanOf(s.tokens, 0, s.tokens/3, 1, s.tokens/2, s.tokens, 2)
		s.wholeSpans = o.WholeSpans
	}
	return s.placed()
}

// placed puts the tokens at the cache's end, or where a ring has been round.
func (s attentionShape) placed() attentionShape {
	s.position = max(s.slots-s.tokens, 0)
	if s.window > 0 {
		s.position += s.slots + 5
	}
	s.name = fmt.Sprintf("%d of %d heads of %d, %d of %d slots", s.kvHeads, s.heads, s.headDim, s.window, s.slots)
	if s.q8 {
		s.name += ", q8"
	}
	if s.spans != nil {
		s.name += ", spans"
		if s.wholeSpans {
			s.name += " seen whole"
		}
	}
	switch {
	case s.apart:
		s.name += ", each of another text"
	case s.streams:
		s.name += ", of one text of several"
	}
	if s.stores {
		s.name += ", storing"
	}
	if s.plainV {
		s.name += ", plain values"
	}
	s.name += fmt.Sprintf(", %d of %d tokens", s.tokens, s.width)
	return s
}

func (s attentionShape) derived() Case {
	return Case{Op: "Attention", Name: "as taken/" + s.name, Tolerance: attentionTolerance,
		Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, uint64(s.headDim))
			defer r.close()
			return attentionCase(ctx, r, s)
		}}
}

func (s attentionShape) halved() (smaller []shape) {
	least := leastTokens
	if s.apart {
		least = 2
	}
	if half, ok := halfOf(s.width, 1, least); ok {
		h := s
		h.width, h.tokens = half, tokensOf(half)
		if s.spans != nil {
			h.spans = spanOf(h.tokens, 0, h.tokens/3, 1, h.tokens/2, h.tokens, 2)
		}
		smaller = append(smaller, h.placed())
	}
	if half, ok := halfOf(s.slots, 1, max(leastSlots, s.width)); ok && s.window == 0 {
		h := s
		h.slots = half
		smaller = append(smaller, h.placed())
	}
	if ring := s.window/2 + s.width; s.window > 2*leastTokens && ring < s.slots {
		h := s
		h.window, h.slots = s.window/2, ring
		smaller = append(smaller, h.placed())
	}
	if half, ok := halfOf(s.kvHeads, 1, 1); ok && s.kvHeads%2 == 0 && s.heads%2 == 0 {
		h := s
		h.kvHeads, h.heads = half, s.heads/2
		smaller = append(smaller, h.placed())
	}
	return smaller
}

func (s copyShape) derived() Case {
	c := s.toCase(1)
	c.Name = "as taken/" + c.Name
	return c
}

func (s copyShape) halved() []shape { return nil }

func (s routerShape) derived() Case {
	c := s.toCase()
	c.Name = "as taken/" + c.Name
	return c
}

func (s routerShape) halved() (smaller []shape) {
	if half, ok := halfOf(s.width, 1, leastTokens); ok {
		h := s
		h.width, h.tokens = half, tokensOf(half)
		smaller = append(smaller, h)
	}
	return smaller
}

func (s gridShape) derived() Case {
	return Case{Op: "FullAttention", Name: "as taken/" + s.String(), Tolerance: 1e-3,
		Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, uint64(s.headDim))
			defer r.close()
			return fullAttentionCase(r, s)
		}}
}

func (s gridShape) halved() (smaller []shape) {
	if half, ok := halfOf(s.width, 1, 2*leastTokens); ok {
		h := s
		h.width, h.tokens = half, tokensOf(half)
		smaller = append(smaller, h)
	}
	if half, ok := halfOf(s.heads, 1, 2); ok {
		h := s
		h.heads = half
		smaller = append(smaller, h)
	}
	return smaller
}
