package ops

import (
	"math/bits"

	"github.com/gemwire/gemwire/wgslkit"
)

// tokenPlan is how one token's attention is laid out.
type tokenPlan struct {
	threads, keys int // of a workgroup, and of a tile of it; keys divides threads or equals them
	heads         int // query heads that share a workgroup's keys, a power of two
	splits        int // ranges of keys
	fuseMerge     bool
}

const (
	// maxSplits bounds the ranges that a token's keys are split into.
	maxSplits = 256
	// maxWorkgroups is as many as a large GPU keeps busy.
	maxWorkgroups = 1024
	// fewKeys is up to where loading keys once for each query head costs
	// less than the parallelism that sharing them takes away.
	fewKeys = 2048
	// fusedBytes bounds the partial results that every workgroup of the
	// following product may merge for itself.
	fusedBytes = 64 << 10
	// queryValues bounds the queries in a workgroup's memory, of 16 KiB.
	queryValues = 2048
)

// planToken chooses the layout for the most keys that o can see.
func (k *Kit) planToken(o Attention) tokenPlan {
	c := o.Cache
	keys := c.Slots
	if o.Window > 0 {
		keys = min(keys, o.Window)
	}
	ratio := o.Heads / c.KVHeads
	if k.dev.Info().Kind == wgslkit.CPU {
		return tokenPlan{threads: 32, keys: 32, heads: min(powerOfTwo(ratio), 2), splits: 1}
	}
	p := tokenPlan{threads: 128, keys: 64, heads: powerOfTwo(min(ratio, 8, queryValues/paddedDim(c.HeadDim)))}
	if keys <= fewKeys {
		p.heads = min(p.heads, 2)
	}
	chunks := c.KVHeads * ((ratio + p.heads - 1) / p.heads)
	want := min((keys+p.keys-1)/p.keys, maxSplits, max(maxWorkgroups/chunks, 1))
	fused := max(fusedBytes/(4*o.Heads*c.HeadDim), 1)
	p.splits, p.fuseMerge = want, false
	if keys <= fewKeys && 4*fused >= want {
		p.splits, p.fuseMerge = min(want, fused), true
	}
	return p
}

// variant is the plan as attention_decode.wgsl reads it.
func (p tokenPlan) variant(headDim int) wgslkit.Variant {
	slices := max(p.threads/(paddedDim(headDim)/8), 1)
	ofHead := slices * paddedDim(headDim) / 4
	cells := max(p.heads*paddedDim(headDim)/4, ofHead)
	return wgslkit.Variant{
		"THREADS": p.threads, "KEYS": p.keys, "HEADS": p.heads, "HEAD_DIM": headDim, "SPLIT": p.splits > 1,
		"VALUE_SLICES": slices, "CELLS": cells, "SUM_HEADS": min(p.heads, cells/ofHead),
	}
}

// powerOfTwo is the largest one up to n.
func powerOfTwo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

func paddedDim(headDim int) int { return (headDim + 7) / 8 * 8 }

// tilesPlan is how a prompt's attention is laid out: workgroups of threads
// over rows tokens and keys at a time. rows divides threads, threads divides
// rows·keys, and threads/rows divides keys.
type tilesPlan struct{ threads, rows, keys int }

func (k *Kit) planTiles() tilesPlan {
	if k.dev.Info().Kind == wgslkit.CPU {
		return tilesPlan{threads: 32, rows: 8, keys: 32}
	}
	return tilesPlan{threads: 256, rows: 32, keys: 64}
}

// variant is the plan as attention_tiles.wgsl reads it.
func (p tilesPlan) variant(headDim int, spans bool) wgslkit.Variant {
	return wgslkit.Variant{
		"THREADS": p.threads, "ROWS": p.rows, "KEYS": p.keys, "HEAD_DIM": headDim, "SPANS": spans,
		"SUM_GROUPS": max(p.threads/(paddedDim(headDim)/8), 1),
	}
}
