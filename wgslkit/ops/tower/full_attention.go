package tower

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/attention"
	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rope"
)

// FullAttention is softmax(q·kᵀ)·v for tokens that lie on a grid (StateColumns)
// and all see each other, with as many key heads as query heads:
//
//	q = turned(rms(In's first part; QNorm)),  k = turned(rms(its second; KNorm)),  v = rms(its third)
//
// for each head, where turned rotates the first half of a head by the token's
// column and the second half by its row. Keys and values are kept in f16; no
// matrix of scores is, so that its memory grows with the tokens alone. On subgroup
// matrices (MatrixTuning), queries and weights are in f16, too.
type FullAttention struct {
	Label        string
	In           record.Slice    // rows of 3·Heads·HeadDim: queries, keys, values
	QNorm, KNorm *wgslkit.Buffer // [HeadDim]
	Eps          float32
	Rope         *rope.Rope // of half a head: its Dim is HeadDim/2
	Heads        int
	HeadDim      int             // a multiple of 4
	Out          *wgslkit.Buffer // [width, Heads·HeadDim]
}

func (o FullAttention) check() error {
	switch {
	case o.Heads < 1 || o.HeadDim < 4 || o.HeadDim%4 != 0:
		return fmt.Errorf("%w: %d heads of %d values, wanted a multiple of 4", wgslkit.ErrValidation, o.Heads,
			o.HeadDim)
	case o.HeadDim > kvcache.MaxHeadDim:
		return fmt.Errorf("%w: head dimension %d, at most %d", wgslkit.ErrLimit, o.HeadDim, kvcache.MaxHeadDim)
	case o.Rope.Dim() != o.HeadDim/2:
		return fmt.Errorf("%w: %d rotated values in half a head of %d", wgslkit.ErrValidation, o.Rope.Dim(), o.HeadDim)
	}
	return nil
}

type gridHeadsParams struct {
	Heads, Slots, XOffset, XStride uint32
	Eps                            float32
	First                          uint32
}

type fullAttentionParams struct{ Heads, Slots uint32 }

type fullAttentionSmallParams struct{ Heads, Slots, Columns, Fours uint32 }

// Record records the op: the heads by themselves, then their attention.
func (o FullAttention) Record(r *record.Recorder) {
	FullAttentionHeads(r, o, r.Width())
	FullAttentionOfHeads(r, o)
}

// attentionHeads are the buffers between the op's two halves, for so many tokens.
func attentionHeads(r *record.Recorder, o FullAttention, tokens int) (q, keys, values *wgslkit.Buffer) {
	if a, ok := matricesForHeads(r.Kit(), o.HeadDim); ok {
		n := tokens * o.Heads * a.dim / 2
		return r.Temp("attention queries", n+a.rows()*a.dim/2), r.Temp("attention keys", n),
			r.Temp("attention values", n)
	}
	n := tokens * o.Heads * kvcache.PaddedDim(o.HeadDim)
	return r.Temp("attention queries", n), r.Temp("attention keys", n/2), r.Temp("attention values", n/2)
}

// FullAttentionHeads records the first half of the op, what is made of each token by
// itself. In a Window of a program of tokens tokens, In is the window's rows alone;
// when all windows have gone through it, FullAttentionOfHeads records the rest.
func FullAttentionHeads(r *record.Recorder, o FullAttention, tokens int) {
	if err := o.check(); err != nil {
		r.Fail(o.Label, err)
		return
	}
	q, keys, vals := attentionHeads(r, o, tokens)
	if r.Err() != nil {
		return
	}
	const threads, tile = 64, 16
	v := wgslkit.Variant{"THREADS": threads, "TOKENS": tile, "HEAD_DIM": o.HeadDim, "DIM": kvcache.PaddedDim(o.HeadDim)}
	if a, ok := matricesForHeads(r.Kit(), o.HeadDim); ok {
		v["HALVES"], v["DIM"] = true, a.dim
	}
	r.Dispatch(Files, "grid_heads.wgsl", v, wgslkit.Call{
		Label: o.Label + " heads",
		Bind:  record.BindAll(r.State(), o.In.Buffer, o.QNorm, o.KNorm, o.Rope.Table, q, keys, vals),
		Params: gridHeadsParams{uint32(o.Heads), uint32(tokens), uint32(o.In.Offset),
			o.In.StrideOr(3 * o.Heads * o.HeadDim), o.Eps, uint32(r.FirstToken())},
		Grid: wgslkit.Grid{X: uint32(record.CeilDiv(tile*3*o.Heads, threads)), Tile: tile, Along: wgslkit.AlongX},
	})
}

// FullAttentionOfHeads records the second half of the op, in which all tokens see each
// other. It reads nothing of In.
func FullAttentionOfHeads(r *record.Recorder, o FullAttention) {
	if r.Err() != nil {
		return
	}
	q, keys, vals := attentionHeads(r, o, r.Width())
	if r.Err() != nil {
		return
	}
	if a, ok := matricesForHeads(r.Kit(), o.HeadDim); ok {
		attendOnMatrices(r, o, a, q, keys, vals)
		return
	}
	if largeFullAttention(r.Kit(), o.HeadDim) {
		wide := record.CeilDiv(kvcache.PaddedDim(o.HeadDim), 64)
		v := wgslkit.Variant{"HEAD_DIM": o.HeadDim, "TILE": max(kvcache.PaddedDim(o.HeadDim), fullAttentionLarge) / 8,
			"WIDE": wide, "SUMS": 8 * wide}
		r.Dispatch(Files, "attention_full_large.wgsl", v, wgslkit.Call{
			Label:  o.Label,
			Bind:   record.BindAll(r.State(), q, keys, vals, o.Out),
			Params: fullAttentionParams{uint32(o.Heads), uint32(r.Width())},
			Grid:   wgslkit.Grid{X: uint32(o.Heads), Y: 1, Tile: fullAttentionLarge, Along: wgslkit.AlongY},
		})
		return
	}
	if rows := fullAttentionRows(r.Kit(), o.HeadDim); rows > 0 {
		v := wgslkit.Variant{"ROWS": rows, "HEAD_DIM": o.HeadDim, "TILE": fullAttentionTile(rows, o.HeadDim) / 4}
		r.Dispatch(Files, "attention_full.wgsl", v, wgslkit.Call{
			Label:  o.Label,
			Bind:   record.BindAll(r.State(), q, keys, vals, o.Out),
			Params: fullAttentionParams{uint32(o.Heads), uint32(r.Width())},
			Grid:   wgslkit.Grid{X: uint32(o.Heads), Y: 1, Tile: uint32(rows), Along: wgslkit.AlongY},
		})
		return
	}
	if r.Tuning().MatvecLooped {
		const threads = 8 // a processor's vector
		r.Dispatch(Files, "attention_full_small.wgsl",
			wgslkit.Variant{"THREADS": threads, "QUICK_HALVES": r.Tuning().SmallKernels}, wgslkit.Call{
				Label: o.Label,
				Bind:  record.BindAll(r.State(), q, keys, vals, o.Out),
				Params: fullAttentionSmallParams{uint32(o.Heads), uint32(r.Width()),
					uint32(kvcache.PaddedDim(o.HeadDim) / 8), uint32(o.HeadDim / 4)},
				Grid: wgslkit.Grid{X: uint32(o.Heads), Y: 1, Tile: 4 * threads, Along: wgslkit.AlongY},
			})
		return
	}
	attention.AttendUnmasked(r, o.Label, q, keys, vals, o.Out, o.Heads, o.HeadDim)
}

// fullAttentionLarge is the tokens and the keys of a tile of
// attention_full_large.wgsl.
const fullAttentionLarge = 64

// largeFullAttention says whether attention_full_large.wgsl suits this device, and
// its memory so wide a head: it holds the tile's queries, its keys or weights,
// halves of its values, and what 16 threads found for each row.
func largeFullAttention(k *record.Kit, headDim int) bool {
	const mostDim = 128 // WIDE is 2
	padded := kvcache.PaddedDim(headDim)
	words := fullAttentionLarge * (padded + max(padded, fullAttentionLarge) + padded/2 + 16)
	return k.Tuning().LargeTiles && k.Tuning().Attention.FullTiles && headDim <= mostDim &&
		4*words <= int(k.Device().Limits().MaxWorkgroupStorage)
}

// fullAttentionKeys is KEYS of attention_full.wgsl.
const fullAttentionKeys = 32

// fullAttentionRows is how many tokens a workgroup of attention_full.wgsl takes
// here, as its memory allows; 0 leaves heads so wide, and devices for which its
// tiles are no gain, to attention_tiles.wgsl.
func fullAttentionRows(k *record.Kit, headDim int) int {
	if !k.Tuning().Attention.FullTiles {
		return 0
	}
	const mostDim = 128 // more sums than registers hold
	for _, rows := range []int{64, 32} {
		words := rows*kvcache.PaddedDim(headDim) + fullAttentionTile(rows, headDim) + fullAttentionKeys*rows
		if headDim <= mostDim && 4*words <= int(k.Device().Limits().MaxWorkgroupStorage) {
			return rows
		}
	}
	return 0
}

// fullAttentionTile is the values of a tile: of keys or of values, or of 8
// threads for each row.
func fullAttentionTile(rows, headDim int) int {
	return max(fullAttentionKeys*kvcache.PaddedDim(headDim), 8*rows)
}
