package attention

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rope"
)

// Attention is softmax(Scale · q·kᵀ)·v over the visible keys of a cache, for
// the program's tokens, whose own keys are in the cache already. q is
// rope(rms(q; QNorm)) of each head; query head h reads kv head h / (Heads / KVHeads).
//
// Key j is visible from query i when 0 ≤ i−j, and i−j < Window where there is
// one; or when it is ahead of i in the same span, however far.
type Attention struct {
	Label   string
	Q       record.Slice    // rows of Heads·HeadDim
	QNorm   *wgslkit.Buffer // [HeadDim], nil for no norm at all
	Eps     float32
	Rope    *rope.Rope // nil for no rotation
	Heads   int        // a multiple of the cache's KVHeads
	Cache   *kvcache.KVCache
	Window  int     // 0 for all keys
	Scale   float32 // 0 counts as 1
	Softcap float32 // scores become c·tanh(score/c); 0 for none
	// Spans, where given, is a span id (u32) for each of the program's
	// tokens; tokens of one non-zero span see each other ahead as well.
	Spans *wgslkit.Buffer
	// WholeSpans lets them see each other behind as well, however short the window.
	WholeSpans bool
	Out        *wgslkit.Buffer // [width, Heads·HeadDim]
	// Store, where given, puts the tokens' own keys and values into Cache
	// first, in the same dispatch where that can be done.
	Store *kvcache.StoreKV
	// Rows says that each token is of another of the texts in Cache, at most as many as there
	// are: the program's state has their places (record.StateRows).
	Rows bool
}

// Record records the op. Where it returns Partials, the result is not in
// Out but in them, for the Input.Merge of the product that follows, or for
// Merge; where it returns nil, the result is in Out.
func (o Attention) Record(r *record.Recorder) *Partials {
	if err := o.check(r.Width()); err != nil {
		r.Fail(o.Label, err)
		return nil
	}
	if o.Store != nil && !storesInAttention(r, o) {
		o.Store.Record(r)
		o.Store = nil
	}
	switch {
	case attendsSmall(r, o):
		attendSmall(r, o)
	case (r.Width() > 1 && !attendsFew(r, o)) || r.Tuning().SmallKernels && !o.Rows:
		attendTiles(r, o)
	default:
		return attendToken(r, o)
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
	case o.Rows && (c.Streams == 0 || o.Spans != nil):
		return fmt.Errorf("%w: attention of several texts over a cache of one, or with spans", wgslkit.ErrValidation)
	case o.Window < 0 || o.Window > 0 && c.Slots < o.Window+width-1 && !o.Rows || o.Rows && o.Window > c.Slots:
		return fmt.Errorf("%w: a ring of %d slots for a window of %d and %d tokens at a time, wanted %d slots",
			wgslkit.ErrValidation, c.Slots, o.Window, width, o.Window+width-1)
	}
	return nil
}

// storesInAttention says whether a step's attention can put the token's key and
// value into the cache by itself: they lie beside the queries then.
func storesInAttention(r *record.Recorder, o Attention) bool {
	s := o.Store
	return r.Width() == 1 && !r.Tuning().SmallKernels && s.K.Buffer == o.Q.Buffer && s.V.Buffer == o.Q.Buffer &&
		s.Cache == o.Cache &&
		s.Rope == o.Rope && s.Eps == o.Eps && r.Limits().MaxStorageBuffers >= storingBuffers
}

// storingBuffers is how many buffers attention_decode.wgsl binds at most: where it
// stores. Else it binds the 8 that WebGPU promises, at most.
const storingBuffers = 9

// attendsFew says whether the attention of few tokens is each one's own, with its
// keys split over workgroups: a tile of tokens would leave a GPU with one
// workgroup for each head. It does where a binding holds what the splits leave.
func attendsFew(r *record.Recorder, o Attention) bool {
	if o.Rows {
		return true // tiles of tokens share what they see
	}
	if r.Width() > record.MostFewTokens || r.Tuning().Attention.MaxSplits <= 1 || o.Spans != nil {
		return false
	}
	values := r.Width() * partialsOf(planToken(r.Kit(), o, r.Width()), o)
	return 4*int64(values) <= r.Kit().MaxBinding()
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
	// Where it stores, KOffset, VOffset and KVNorms; of many tokens, QStride and Region.
	Rest [3]uint32
}

// attendToken records a decoding step's attention, or that of few tokens.
func attendToken(r *record.Recorder, o Attention) *Partials {
	c := o.Cache
	plan := planToken(r.Kit(), o, r.Width())
	var partials *Partials
	if values := partialsOf(plan, o); values > 0 {
		partials = &Partials{Buffer: r.Temp(plan.partials(), r.Width()*values), Splits: plan.splits, Heads: o.Heads,
			HeadDim: c.HeadDim}
		if r.Width() > 1 {
			partials.region = values
		}
	}
	if r.Err() != nil {
		return nil
	}
	v := c.Into(tokenVariant(r.Tuning().Attention, plan, o))
	if o.Rows {
		v["APART"] = true
	}
	v["MANY"] = r.Width() > 1
	for _, p := range c.Parts {
		attendPart(r, o, plan, p, v, partials)
	}
	switch {
	case partials == nil || plan.last:
		return nil
	case !plan.fuseMerge:
		Merge(r, o.Label, partials, o.Out)
		return nil
	}
	return partials
}

func attendPart(r *record.Recorder, o Attention, plan tokenPlan, p kvcache.CachePart, v wgslkit.Variant,
	partials *Partials) {
	c := o.Cache
	chunks := record.CeilDiv(o.Heads/c.KVHeads, plan.heads)
	bind := []wgslkit.Binding{
		r.State().All(), o.Q.Buffer.All(), record.OrBuffer(o.QNorm, o.Q.Buffer).All(), o.Rope.Binding(o.Q.Buffer),
		p.Keys.All(), p.Values.All(),
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
		Heads: uint32(o.Heads), KVHeads: uint32(c.KVHeads), FirstKVHead: uint32(p.First), ChunksPerKV: uint32(chunks),
		Slots: uint32(c.Slots), Window: uint32(o.Window), Splits: uint32(plan.splits), QOffset: uint32(o.Q.Offset),
		Eps: o.Eps, Scale: record.OrOne(o.Scale), Softcap: o.Softcap,
	}
	if s := o.Store; s != nil {
		bind = append(bind, record.OrBuffer(s.KNorm, o.Q.Buffer).All())
		norms := record.Flag(s.KNorm != nil) | 2*record.Flag(s.PlainV)
		params.Rest = [3]uint32{uint32(s.K.Offset), uint32(s.V.Offset), norms}
	}
	grid := wgslkit.Grid{X: uint32(p.Heads * chunks), Y: uint32(plan.splits)}
	if r.Width() > 1 {
		params.Rest = [3]uint32{o.Q.StrideOr(o.Heads * c.HeadDim), partials.regionOf()}
		grid.Tile, grid.Along = 1, wgslkit.AlongZ
	}
	r.Dispatch(Files, "attention_decode.wgsl", v, wgslkit.Call{
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
func attendTiles(r *record.Recorder, o Attention) {
	c := o.Cache
	q := r.Temp("attention queries", r.Width()*o.Heads*kvcache.PaddedDim(c.HeadDim))
	if r.Err() != nil {
		return
	}
	r.Dispatch(Files, "prepare_q.wgsl", r.RowVariant(wgslkit.Variant{"HEAD_DIM": c.HeadDim}), wgslkit.Call{
		Label: o.Label + " q",
		Bind: []wgslkit.Binding{
			r.State().All(), o.Q.Buffer.All(), record.OrBuffer(o.QNorm, o.Q.Buffer).All(), o.Rope.Binding(o.Q.Buffer),
			q.All(),
		},
		Params: prepareQParams{
			uint32(o.Heads), uint32(o.Q.Offset), o.Q.StrideOr(o.Heads * c.HeadDim), uint32(o.Rope.Dim()),
			record.Flag(o.QNorm != nil), o.Eps, record.OrOne(o.Scale),
		},
		Grid: record.RowGrid(o.Heads),
	})
	tuning := r.Tuning().Attention
	v := c.Into(tileVariant(tuning, c.HeadDim, o.Spans != nil, o.Spans != nil && o.WholeSpans))
	for _, p := range c.Parts {
		r.Dispatch(Files, "attention_tiles.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind: []wgslkit.Binding{
				r.State().All(), q.All(), p.Keys.All(), p.Values.All(), record.OrBuffer(o.Spans, r.State()).All(),
				o.Out.All(),
			},
			Params: attendTilesParams{
				uint32(o.Heads), uint32(c.KVHeads), uint32(p.First), uint32(c.Slots), uint32(o.Window), o.Softcap,
			},
			Grid: wgslkit.Grid{
				X: uint32(p.Heads * o.Heads / c.KVHeads), Y: 1, Tile: uint32(tuning.TileRows), Along: wgslkit.AlongY,
			},
		})
	}
}

// AttendUnmasked records attention without a mask in tiles, of queries, keys and values
// that lie by head already.
func AttendUnmasked(r *record.Recorder, label string, q, keys, values, out *wgslkit.Buffer, heads, headDim int) {
	tuning := r.Tuning().Attention
	v := tileVariant(tuning, headDim, false, false)
	v["FULL"] = true
	r.Dispatch(Files, "attention_tiles.wgsl", v, wgslkit.Call{
		Label:  label,
		Bind:   record.BindAll(r.State(), q, keys, values, r.State(), out),
		Params: attendTilesParams{Heads: uint32(heads), KVHeads: uint32(heads), Slots: uint32(r.Width())},
		Grid:   wgslkit.Grid{X: uint32(heads), Y: 1, Tile: uint32(tuning.TileRows), Along: wgslkit.AlongY},
	})
}
