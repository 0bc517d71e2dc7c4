package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// Attention is softmax(Scale · q·kᵀ)·v over the visible keys of a cache, for
// the program's tokens, whose own keys are in the cache already. q is
// rope(rms(q; QNorm)) of each head; query head h reads kv head h / (Heads / KVHeads).
//
// Key j is visible from query i when 0 ≤ i−j, and i−j < Window where there is
// one; or when it is ahead of i in the same span, however far.
type Attention struct {
	Label   string
	Q       Slice           // rows of Heads·HeadDim
	QNorm   *wgslkit.Buffer // [HeadDim], nil for no norm at all
	Eps     float32
	Rope    *Rope // nil for no rotation
	Heads   int   // a multiple of the cache's KVHeads
	Cache   *KVCache
	Window  int     // 0 for all keys
	Scale   float32 // 0 counts as 1
	Softcap float32 // scores become c·tanh(score/c); 0 for none
	// Spans, where given, is a span id (u32) for each of the program's
	// tokens; tokens of one non-zero span see each other ahead as well.
	Spans *wgslkit.Buffer
	Out   *wgslkit.Buffer // [width, Heads·HeadDim]
	// Store, where given, puts the tokens' own keys and values into Cache
	// first, in the same dispatch where that can be done.
	Store *StoreKV
}

// Attention records the op. Where it returns Partials, the result is not in
// Out but in them, for the Input.Merge of the product that follows, or for
// Merge; where it returns nil, the result is in Out.
func (r *Recorder) Attention(o Attention) *Partials {
	if err := o.check(r.width); err != nil {
		r.fail(o.Label, err)
		return nil
	}
	if o.Store != nil && !r.storesInAttention(o) {
		r.StoreKV(*o.Store)
		o.Store = nil
	}
	switch {
	case r.attendsSmall(o):
		r.attendSmall(o)
	case (r.width > 1 && !r.attendsFew(o)) || r.kit.tuning.SmallKernels:
		r.attendTiles(o)
	default:
		return r.attendToken(o)
	}
	return nil
}

func (o *Attention) check(width int) error {
	c := o.Cache
	switch {
	case o.Heads < 1 || o.Heads%c.KVHeads != 0:
		return fmt.Errorf("%w: %d query heads for %d kv heads", wgslkit.ErrValidation, o.Heads, c.KVHeads)
	case o.Rope.Dim() > c.HeadDim:
		return fmt.Errorf("%w: %d rotated values in heads of %d", wgslkit.ErrValidation, o.Rope.Dim(), c.HeadDim)
	case o.Window < 0 || o.Window > 0 && c.Slots < o.Window+width-1:
		return fmt.Errorf("%w: a ring of %d slots for a window of %d and %d tokens at a time, wanted %d slots",
			wgslkit.ErrValidation, c.Slots, o.Window, width, o.Window+width-1)
	}
	return nil
}

// storesInAttention says whether a step's attention can put the token's key and
// value into the cache by itself: they lie beside the queries then.
func (r *Recorder) storesInAttention(o Attention) bool {
	s := o.Store
	return r.width == 1 && !r.kit.tuning.SmallKernels && s.K.Buffer == o.Q.Buffer && s.V.Buffer == o.Q.Buffer && s.Cache == o.Cache &&
		s.Rope == o.Rope && s.Eps == o.Eps && r.kit.dev.Limits().MaxStorageBuffers >= storingBuffers
}

// storingBuffers is how many buffers attention_decode.wgsl binds at most: where it
// stores. Else it binds the 8 that WebGPU promises, at most.
const storingBuffers = 9

// attendsFew says whether the attention of few tokens is each one's own, with its
// keys split over workgroups: a tile of tokens would leave a GPU with one
// workgroup for each head. It does where a binding holds what the splits leave.
func (r *Recorder) attendsFew(o Attention) bool {
	if r.width > mostFewTokens || r.kit.tuning.Attention.MaxSplits <= 1 || o.Spans != nil {
		return false
	}
	values := r.width * partialsOf(r.kit.planToken(o, r.width), o)
	return 4*int64(values) <= r.kit.maxBinding()
}

// partialsOf is the values that a token's splits leave, with a counter for each head.
func partialsOf(p tokenPlan, o Attention) int {
	if p.splits <= 1 {
		return 0
	}
	return partialsLen(p.splits, o.Heads, o.Cache.HeadDim) + o.Heads
}

type attendTokenParams struct {
	Heads, KVHeads, FirstKVHead, ChunksPerKV uint32
	Slots, Window, Splits, QOffset           uint32
	Eps, Scale, Softcap                      float32
	// Where it stores, KOffset, VOffset and KWeighted; of many tokens, QStride and Region.
	Rest [3]uint32
}

// attendToken records a decoding step's attention, or that of few tokens.
func (r *Recorder) attendToken(o Attention) *Partials {
	c := o.Cache
	plan := r.kit.planToken(o, r.width)
	var partials *Partials
	if values := partialsOf(plan, o); values > 0 {
		partials = &Partials{Buffer: r.temp(plan.partials(), r.width*values), Splits: plan.splits, Heads: o.Heads, HeadDim: c.HeadDim}
		if r.width > 1 {
			partials.region = values
		}
	}
	if r.err != nil {
		return nil
	}
	v := c.into(r.kit.tuning.Attention.tokenVariant(plan, o))
	v["MANY"] = r.width > 1
	for _, p := range c.parts {
		r.attendPart(o, plan, p, v, partials)
	}
	switch {
	case partials == nil || plan.last:
		return nil
	case !plan.fuseMerge:
		r.Merge(o.Label, partials, o.Out)
		return nil
	}
	return partials
}

func (r *Recorder) attendPart(o Attention, plan tokenPlan, p cachePart, v wgslkit.Variant, partials *Partials) {
	c := o.Cache
	chunks := ceilDiv(o.Heads/c.KVHeads, plan.heads)
	bind := []wgslkit.Binding{
		r.state.All(), o.Q.Buffer.All(), orBuffer(o.QNorm, o.Q.Buffer).All(), o.Rope.binding(o.Q.Buffer), p.keys.All(), p.values.All(),
	}
	switch {
	case plan.last:
		bind = append(bind, o.Out.All(), partials.Buffer.All())
	case partials != nil:
		bind = append(bind, partials.Buffer.All())
	default:
		bind = append(bind, o.Out.All())
	}
	params := attendTokenParams{
		Heads: uint32(o.Heads), KVHeads: uint32(c.KVHeads), FirstKVHead: uint32(p.first), ChunksPerKV: uint32(chunks),
		Slots: uint32(c.Slots), Window: uint32(o.Window), Splits: uint32(plan.splits), QOffset: uint32(o.Q.Offset),
		Eps: o.Eps, Scale: orOne(o.Scale), Softcap: o.Softcap,
	}
	if s := o.Store; s != nil {
		bind = append(bind, orBuffer(s.KNorm, o.Q.Buffer).All())
		params.Rest = [3]uint32{uint32(s.K.Offset), uint32(s.V.Offset), flag(s.KNorm != nil)}
	}
	grid := wgslkit.Grid{X: uint32(p.heads * chunks), Y: uint32(plan.splits)}
	if r.width > 1 {
		params.Rest = [3]uint32{o.Q.stride(o.Heads * c.HeadDim), partials.regionOf()}
		grid.Tile, grid.Along = 1, wgslkit.AlongZ
	}
	r.dispatch("attention_decode.wgsl", v, wgslkit.Call{
		Label: o.Label, Bind: bind, Params: params, Grid: grid,
	})
}

type prepareQParams struct {
	Heads, Offset, Stride, Rotated, Normed uint32
	Eps, Scale                             float32
}

type attendTilesParams struct {
	Heads, KVHeads, FirstKVHead, Slots, Window uint32
	Softcap                                    float32
}

// attendTiles records a prompt's attention: the queries by themselves, then tiles of them over the keys.
func (r *Recorder) attendTiles(o Attention) {
	c := o.Cache
	q := r.temp("attention queries", r.width*o.Heads*paddedDim(c.HeadDim))
	if r.err != nil {
		return
	}
	r.dispatch("prepare_q.wgsl", r.rowVariant(wgslkit.Variant{"HEAD_DIM": c.HeadDim}), wgslkit.Call{
		Label: o.Label + " q",
		Bind: []wgslkit.Binding{
			r.state.All(), o.Q.Buffer.All(), orBuffer(o.QNorm, o.Q.Buffer).All(), o.Rope.binding(o.Q.Buffer), q.All(),
		},
		Params: prepareQParams{
			uint32(o.Heads), uint32(o.Q.Offset), o.Q.stride(o.Heads * c.HeadDim), uint32(o.Rope.Dim()),
			flag(o.QNorm != nil), o.Eps, orOne(o.Scale),
		},
		Grid: rowGrid(o.Heads),
	})
	tuning := r.kit.tuning.Attention
	v := c.into(tuning.tileVariant(c.HeadDim, o.Spans != nil))
	for _, p := range c.parts {
		r.dispatch("attention_tiles.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind: []wgslkit.Binding{
				r.state.All(), q.All(), p.keys.All(), p.values.All(), orBuffer(o.Spans, r.state).All(), o.Out.All(),
			},
			Params: attendTilesParams{
				uint32(o.Heads), uint32(c.KVHeads), uint32(p.first), uint32(c.Slots), uint32(o.Window), o.Softcap,
			},
			Grid: wgslkit.Grid{
				X: uint32(p.heads * o.Heads / c.KVHeads), Y: 1, Tile: uint32(tuning.TileRows), Along: wgslkit.AlongY,
			},
		})
	}
}
