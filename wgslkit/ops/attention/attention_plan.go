package attention

import (
	"math/bits"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// tokenPlan is how one token's attention is laid out.
type tokenPlan struct {
	heads     int  // query heads that share a workgroup's keys
	keys      int  // that are worked on at a time
	splits    int  // ranges of keys
	fuseMerge bool // by the product that follows
	last      bool // merged by the workgroup that ends last
}

// partials names the scratch buffer of what the splits leave. What the last workgroup
// merges has one of its own, which is zeros between dispatches of any layout.
func (p tokenPlan) partials() string {
	if p.last {
		return "attention partials merged last"
	}
	return "attention partials"
}

const (
	// The workgroup that ends last merges up to lastSplits, of lastKeys keys at
	// a time: fewer splits of more keys than else.
	lastSplits, lastKeys = 16, 64
	// fewKeys is up to where fewer splits, merged by the following product,
	// cost less than a merge of their own.
	fewKeys = 2048
	// fusedBytes bounds the partial results that every workgroup of the
	// following product may merge for itself.
	fusedBytes = 64 << 10
	// maxTeam is as many threads as take part in one head's softmax: each
	// reads what all have found.
	maxTeam = 16
	// queryValues bounds the queries in a workgroup's memory, of 16 KiB.
	queryValues = 2048
)

// planToken chooses the layout for the most keys that o can see, for tokens tokens
// at once.
func planToken(k *record.Kit, o Attention, tokens int) tokenPlan {
	c, t := o.Cache, k.Tuning().Attention
	ratio := o.Heads / c.KVHeads
	heads := powerOfTwo(min(ratio, t.TokenHeads, queryValues/kvcache.PaddedDim(c.HeadDim)))
	p := planSplits(k, o, heads, tokens)
	for heads > 1 && tokens*p.splits*c.KVHeads*((ratio+heads-1)/heads) < t.MinWorkgroups {
		heads /= 2
		p = planSplits(k, o, heads, tokens)
	}
	// The product that follows merges one token's.
	p.fuseMerge = p.fuseMerge && tokens == 1
	return p
}

// planSplits is the layout where so many query heads share their keys.
func planSplits(k *record.Kit, o Attention, heads, tokens int) tokenPlan {
	c, t := o.Cache, k.Tuning().Attention
	keys := c.Slots
	if o.Window > 0 {
		keys = min(keys, o.Window)
	}
	groups := tokens * c.KVHeads * ((o.Heads/c.KVHeads + heads - 1) / heads)
	splits := min((keys+t.TokenKeys-1)/t.TokenKeys, t.MaxSplits, max(t.MaxWorkgroups/groups, 1))
	if t.MergeLast && keys <= fewKeys && splits > 1 {
		splits = min(record.CeilDiv(keys, lastKeys), lastSplits, max(t.MaxWorkgroups/groups, 1))
		return tokenPlan{heads: heads, splits: splits, keys: lastKeys, last: splits > 1}
	}
	fused := max(fusedBytes/(4*o.Heads*c.HeadDim), 1)
	if tokens == 1 && keys <= fewKeys && splits <= 4*fused {
		splits = min(splits, fused)
	}
	return tokenPlan{heads: heads, splits: splits, keys: t.TokenKeys, fuseMerge: splits <= fused}
}

// tokenVariant is the plan for o as attention_decode.wgsl reads it.
func tokenVariant(t record.AttentionTuning, p tokenPlan, o Attention) wgslkit.Variant {
	columns := kvcache.PaddedDim(o.Cache.HeadDim) / 8
	slices := max(t.TokenThreads/columns, 1)
	ofHead := slices * 2 * columns
	cells := max(p.heads*2*columns, ofHead)
	return wgslkit.Variant{
		"THREADS": t.TokenThreads, "KEYS": p.keys, "KEY_LANES": t.TokenKeyLanes, "HEADS": p.heads,
		"TEAM":     min(t.TokenThreads/p.heads, maxTeam),
		"HEAD_DIM": o.Cache.HeadDim, "ROTATED": o.Rope.Dim(), "QUADS": o.Rope.Dim()%8 == 0, "NORMED": o.QNorm != nil,
		"SPLIT": p.splits > 1, "LAST": p.last, "STORE": o.Store != nil, "VALUE_SLICES": slices, "CELLS": cells,
		"SUM_HEADS":    min(p.heads, cells/ofHead),
		"COLUMN_BATCH": batch(t.TokenColumns, columns, t.TokenThreads/t.TokenKeyLanes),
		"VALUE_BATCH":  min(t.TokenValues, powerOfTwo(max(p.keys/slices, 1))),
	}
}

// batch is the largest power of two up to most that divides what each of
// slices has of n, or 1 where they do not have the same.
func batch(most, n, slices int) int {
	for n%(most*slices) != 0 && most > 1 {
		most /= 2
	}
	return most
}

// tileVariant is the tuning as attention_tiles.wgsl reads it.
func tileVariant(t record.AttentionTuning, headDim int, spans, whole bool) wgslkit.Variant {
	return wgslkit.Variant{
		"THREADS": t.TileThreads, "ROWS": t.TileRows, "KEYS": t.TileKeys, "KEY_LANES": t.TileKeyLanes,
		"HEAD_DIM": headDim, "SPANS": spans, "WHOLE_SPANS": whole,
		"SUM_GROUPS":   max(t.TileThreads/(kvcache.PaddedDim(headDim)/8), 1),
		"COLUMN_BATCH": batch(t.TileColumns, kvcache.PaddedDim(headDim)/8, 1),
		"VALUE_BATCH":  min(t.TileValues, t.TileKeys),
	}
}

// powerOfTwo is the largest one up to n.
func powerOfTwo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }
