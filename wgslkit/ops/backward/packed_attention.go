package backward

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rowwise"
)

// PackedAttention is Out = softmax(Scale·q·kᵀ)·v over texts that lie one behind the
// other: row t sees the keys from Visible[t].x up to Visible[t].y. Query head h reads
// kv head h / (Heads / KVHeads). Buffers have room for whole tiles: Rows and Keys
// rounded up to PackedTile; rows beyond the last see nothing, [0, 0).
type PackedAttention struct {
	Label                   string
	Q                       *wgslkit.Buffer // [Rows, Heads, HeadDim]
	K, V                    *wgslkit.Buffer // [Keys, KVHeads, HeadDim]
	Visible                 *wgslkit.Buffer // u32 [Rows, 2]
	Stats                   *wgslkit.Buffer // [Rows, Heads, 2]: the log of a row's sum, and what the way back adds
	Out                     *wgslkit.Buffer // [Rows, Heads, HeadDim]
	Heads, KVHeads, HeadDim int
	Scale                   float32 // 0 counts as 1
	Part                    PackedPart
}

// PackedPart is for texts whose rows lie in several buffers: which of the others the
// buffers hold, from First on, Count of them. Others are keys to a query, and queries
// to a key. What each part gives is added up, the parts in order: the log of a row's
// sum, and with More Out. The zero value is all of them.
type PackedPart struct {
	First, Count int // Count 0: all
	More         bool
}

func (p PackedPart) end() uint32 {
	if p.Count == 0 {
		return rowwise.NoRow
	}
	return uint32(p.First + p.Count)
}

// PackedAttentionBack is what PackedAttention hands back: DQ, DK and DV, each nil
// where nobody asks for it, or with its Add more of them. Nothing of
// [rows, keys] is kept. SeenBy[j] is the rows that see key j, which follow each other.
type PackedAttentionBack struct {
	PackedAttention
	DOut             *wgslkit.Buffer // [Rows, Heads, HeadDim]
	SeenBy           *wgslkit.Buffer // u32 [Keys, 2]
	Keys             int             // as many as are computed in every replay
	DQ, DK, DV       *wgslkit.Buffer
	AddQ, AddK, AddV bool
	// Again says that an op before has left in Stats what the way back adds. Where
	// Part is given, DQ is of keys in part, and DK and DV, which are not asked for
	// together with it, of queries in part.
	Again bool
}

// PackedTile is how many rows of packed attention are computed together.
const PackedTile = 32

type packedLSEParams struct {
	Heads, KVHeads, First, End uint32
	Scale                      float32
}

type packedSumParams struct {
	Heads, KVHeads, First, End uint32
	ScoreScale, Scale          float32
}

func (o *PackedAttention) check() error {
	switch {
	case o.Heads < 1 || o.KVHeads < 1 || o.Heads%o.KVHeads != 0:
		return fmt.Errorf("%w: %d query heads for %d kv heads", wgslkit.ErrValidation, o.Heads, o.KVHeads)
	case o.HeadDim < 1 || o.HeadDim > kvcache.MaxHeadDim:
		return fmt.Errorf("%w: head dimension %d, at most %d", wgslkit.ErrLimit, o.HeadDim, kvcache.MaxHeadDim)
	}
	return nil
}

// packedVariant has as many groups of 64 threads as have something to do.
func packedVariant(r *record.Recorder, o *PackedAttention, v wgslkit.Variant) wgslkit.Variant {
	groups := 1
	for !r.Tuning().MatvecLooped && groups < 4 && 64*groups < o.HeadDim {
		groups *= 2
	}
	v["HEAD_DIM"], v["GROUPS"], v["THREADS"] = o.HeadDim, groups, 64*groups
	v["SCRATCH"] = max(144*groups, 256*(groups-1))
	return v
}

func (o *PackedAttention) ownQueries() wgslkit.Grid {
	return wgslkit.Grid{X: uint32(o.Heads), Y: 1, Tile: PackedTile, Along: wgslkit.AlongY}
}

// Record records the op.
func (o PackedAttention) Record(r *record.Recorder) {
	PackedStats(r, o)
	PackedValues(r, o)
}

// PackedStats records the first half of the op, the log of each row's sum. All parts
// of the keys have theirs before the first has its values.
func PackedStats(r *record.Recorder, o PackedAttention) {
	if err := o.check(); err != nil {
		r.Fail(o.Label, err)
		return
	}
	r.Dispatch(Files, "packed_lse.wgsl", packedVariant(r, &o, wgslkit.Variant{}), wgslkit.Call{
		Label: o.Label + " sums", Bind: record.BindAll(o.Visible, o.Q, o.K, o.Stats),
		Params: packedLSEParams{uint32(o.Heads), uint32(o.KVHeads), uint32(o.Part.First), o.Part.end(),
			record.OrOne(o.Scale)}, Grid: o.ownQueries(),
	})
}

// PackedValues records the second half: what a row's keys give.
func PackedValues(r *record.Recorder, o PackedAttention) {
	sumPacked(r, &o, packedSum{label: o.Label, dout: o.Q, ranges: o.Visible, out: o.Out, add: o.Part.More, scale: 1,
		grid: o.ownQueries()})
}

// packedSum is one call of packed_sum.wgsl.
type packedSum struct {
	label             string
	ranges, dout, out *wgslkit.Buffer
	ownKeys, second   bool
	add               bool
	scale             float32
	grid              wgslkit.Grid
}

func sumPacked(r *record.Recorder, o *PackedAttention, s packedSum) {
	v := packedVariant(r, o, wgslkit.Variant{"OWN_KEYS": s.ownKeys, "SECOND": s.second, "ADD": s.add})
	r.Dispatch(Files, "packed_sum.wgsl", v, wgslkit.Call{
		Label: s.label, Bind: record.BindAll(s.ranges, o.Q, o.K, o.V, s.dout, o.Stats, s.out), Grid: s.grid,
		Params: packedSumParams{uint32(o.Heads), uint32(o.KVHeads), uint32(o.Part.First), o.Part.end(),
			record.OrOne(o.Scale), s.scale},
	})
}

type packedDeltaParams struct{ Heads uint32 }

// Record records the op. Stats are those that the forward pass left.
func (o PackedAttentionBack) Record(r *record.Recorder) {
	if err := o.check(); err != nil {
		r.Fail(o.Label, err)
		return
	}
	if !o.Again {
		packedDelta(r, &o)
	}
	scale := record.OrOne(o.Scale)
	if o.DQ != nil {
		sumPacked(r, &o.PackedAttention, packedSum{
			label: o.Label + " dq", ranges: o.Visible, dout: o.DOut, out: o.DQ, second: true, add: o.AddQ, scale: scale,
			grid: o.ownQueries(),
		})
	}
	if o.DV != nil {
		packedOfKeys(r, &o, packedSum{label: o.Label + " dv", out: o.DV, add: o.AddV, scale: 1})
	}
	if o.DK != nil {
		packedOfKeys(r, &o, packedSum{label: o.Label + " dk", out: o.DK, add: o.AddK, scale: scale, second: true})
	}
}

func packedDelta(r *record.Recorder, o *PackedAttentionBack) {
	r.Dispatch(Files, "packed_delta.wgsl", r.RowVariant(wgslkit.Variant{"HEAD_DIM": o.HeadDim}), wgslkit.Call{
		Label: o.Label + " delta", Bind: record.BindAll(o.Out, o.DOut, o.Stats),
		Params: packedDeltaParams{uint32(o.Heads)}, Grid: record.RowGrid(o.Heads),
	})
}

type sumGroupsParams struct{ Size, Dim, Group uint32 }

// packedOfKeys records dk or dv: each query head's part, and the sum of those
// that read one kv head.
func packedOfKeys(r *record.Recorder, o *PackedAttentionBack, s packedSum) {
	parts := r.Temp("parts of query heads", record.CeilDiv(o.Keys, PackedTile)*PackedTile*o.Heads*o.HeadDim)
	if r.Err() != nil {
		return
	}
	sum := s
	sum.ranges, sum.dout, sum.ownKeys, sum.out, sum.add = o.SeenBy, o.DOut, true, parts, false
	sum.grid = wgslkit.Grid{X: uint32(o.Heads), Y: uint32(record.CeilDiv(o.Keys, PackedTile))}
	sumPacked(r, &o.PackedAttention, sum)
	size := o.KVHeads * o.HeadDim
	r.Dispatch(Files, "sum_groups.wgsl", wgslkit.Variant{"THREADS": record.GridThreads, "ADD": s.add}, wgslkit.Call{
		Label: s.label + " sums", Bind: record.BindAll(parts, s.out),
		Params: sumGroupsParams{uint32(size), uint32(o.HeadDim), uint32(o.Heads / o.KVHeads)},
		Grid:   wgslkit.Grid{X: uint32(record.CeilDiv(size, record.GridThreads)), Y: uint32(o.Keys)},
	})
}
