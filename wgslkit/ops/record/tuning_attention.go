package record

import "github.com/gemwire/gemwire/wgslkit"

// AttentionTuning holds the sizes of attention's workgroups.
type AttentionTuning struct {
	// A decoding step: TokenThreads work on TokenKeys keys at a time,
	// TokenKeyLanes of them side by side (at most either), for up to
	// TokenHeads query heads of one kv head. All are powers of two.
	TokenThreads, TokenKeys, TokenKeyLanes, TokenHeads int
	// TokenColumns and TokenValues are how many columns of keys and how many
	// values a thread has under way from memory, at most; powers of two.
	TokenColumns, TokenValues int
	// MaxSplits bounds the ranges that a step's keys are split into, to be
	// worked on side by side; MaxWorkgroups those of all heads together.
	// Below MinWorkgroups, fewer query heads share their keys.
	MaxSplits, MaxWorkgroups, MinWorkgroups int
	// MergeLast lets the workgroup that ends last merge a few splits.
	MergeLast bool
	// A prompt: TileThreads work on TileRows tokens and TileKeys keys at a
	// time, TileKeyLanes of the keys side by side. All are powers of two,
	// TileRows and TileKeyLanes at most TileThreads, and TileThreads at most
	// TileRows·TileKeyLanes and TileRows·TileKeys.
	TileThreads, TileRows, TileKeys, TileKeyLanes int
	TileColumns, TileValues                       int // as for a decoding step
	// FullTiles lets attention without a mask keep its tiles in registers
	// (attention_full.wgsl).
	FullTiles bool
}

func attentionTuning(kind wgslkit.Kind) AttentionTuning {
	if kind == wgslkit.CPU {
		// As many threads as a vector of the processor's has lanes: their
		// barriers cost nothing. What counts is how few values are loaded,
		// each lane's by itself: keys and queries are used over and over.
		return AttentionTuning{
			TokenThreads: 8, TokenKeys: 64, TokenKeyLanes: 8, TokenHeads: 4, TokenColumns: 1, TokenValues: 1,
			MaxSplits: 1, MaxWorkgroups: 1, MinWorkgroups: 1,
			TileThreads: 8, TileRows: 4, TileKeys: 32, TileKeyLanes: 8, TileColumns: 1, TileValues: 1,
		}
	}
	return AttentionTuning{
		TokenThreads: 128, TokenKeys: 32, TokenKeyLanes: 32, TokenHeads: 4, TokenColumns: 8, TokenValues: 8,
		MaxSplits: MergedSplits, MaxWorkgroups: 1024, MinWorkgroups: 64, MergeLast: true,
		TileThreads: 256, TileRows: 32, TileKeys: 64, TileKeyLanes: 32, TileColumns: 4, TileValues: 8,
		FullTiles: true,
	}
}

// forSlowCompiler is t with as little workgroup memory as will do, for a prompt's
// kernel that takes decoding steps as well.
func (t AttentionTuning) forSlowCompiler() AttentionTuning {
	t.TileThreads, t.TileRows, t.TileKeys, t.TileKeyLanes = 4, 1, 16, 4
	return t
}

// MergedSplits is as many splits as merge_splits.wgsl has room for.
const MergedSplits = 256
