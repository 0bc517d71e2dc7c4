package tower

import (
	"math/bits"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// matrixAttention is the sizes of attention_full_matrix.wgsl for heads of headDim.
type matrixAttention struct {
	record.MatrixTuning
	headDim, dim int // dim is headDim in whole matrices
	keys         int // of a tile
}

// matricesForHeads says how heads so wide go through subgroup matrices here, and
// whether they do.
func matricesForHeads(k *record.Kit, headDim int) (a matrixAttention, ok bool) {
	const mostDim = 128 // more sums than registers hold
	t := k.Tuning().Matrices
	if t.Size == 0 || k.Tuning().SmallKernels || !k.Tuning().Subgroups || headDim > mostDim {
		return a, false
	}
	whole := max(t.Size, t.K, 8)
	a = matrixAttention{MatrixTuning: t, headDim: headDim, dim: record.CeilDiv(headDim, whole) * whole}
	for n := t.KeyMatrices; n > 0; n-- {
		if a.keys = n * whole; a.fits(k.Device().Limits()) {
			return a, true
		}
	}
	return a, false
}

// AttendsThroughFloat16 says whether FullAttention rounds queries and weights of o to
// float16, too, as it does keys and values.
func AttendsThroughFloat16(r *record.Recorder, o FullAttention) bool {
	_, ok := matricesForHeads(r.Kit(), o.HeadDim)
	return ok
}

// rows is the tokens of a workgroup.
func (a matrixAttention) rows() int { return 4 * a.Size }

// sharers is how many threads share a row of scores.
func (a matrixAttention) sharers() int { return a.Subgroup / a.Size }

func (a matrixAttention) fits(l wgslkit.Limits) bool {
	sharers := a.sharers()
	return sharers > 0 && sharers*a.Size == a.Subgroup && bits.OnesCount(uint(sharers)) == 1 &&
		a.keys%(4*sharers) == 0 &&
		a.Threads() <= int(min(l.MaxWorkgroupInvocations, l.MaxWorkgroupSizeX)) &&
		a.workgroupBytes() <= int(l.MaxWorkgroupStorage)
}

// workgroupBytes is what a workgroup puts into memory: keys and values, scores and
// weights, with eight numbers more to a row, and what was chosen.
func (a matrixAttention) workgroupBytes() int {
	return 2*2*a.keys*(a.dim+8) + (4+2)*a.rows()*(a.keys+8) + 4
}

func (a matrixAttention) variant() wgslkit.Variant {
	pieces := a.keys * a.dim / 8
	return wgslkit.Variant{
		"MATRIX": a.Size, "MATRIX_K": a.K, "SUBGROUP": a.Subgroup, "HEAD_DIM": a.headDim, "DIM": a.dim, "KEYS": a.keys,
		"DIMS": a.dim / a.Size, "DIM_STEPS": a.dim / a.K, "KEY_MATRICES": a.keys / a.Size, "KEY_STEPS": a.keys / a.K,
		"SHARERS": a.sharers(), "SHARER_BITS": bits.Len(uint(a.sharers())) - 1, "FOURS": a.keys / 4 / a.sharers(),
		"PIECES": record.CeilDiv(pieces, a.Threads()), "RAGGED": pieces%a.Threads() != 0,
	}
}

// attendOnMatrices records FullAttentionOfHeads on subgroup matrices.
func attendOnMatrices(r *record.Recorder, o FullAttention, a matrixAttention, q, keys, values *wgslkit.Buffer) {
	r.Dispatch(Files, "attention_full_matrix.wgsl", a.variant(), wgslkit.Call{
		Label:  o.Label,
		Bind:   record.BindAll(r.State(), q, keys, values, o.Out),
		Params: fullAttentionParams{uint32(o.Heads), uint32(r.Width())},
		Grid:   wgslkit.Grid{X: uint32(o.Heads), Y: 1, Tile: uint32(a.rows()), Along: wgslkit.AlongY},
	})
}
