package product

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// LowRankParts is the most parts of a LowRank.
const LowRankParts = 3

// LowRank is what a product adds to the sums of its rows, before all that follows
// them: row i of a part gets Σ_k B[i, k]·U[t, Column+k], so that a product becomes
// y = W·h + B·u. With u = A·h, made by a product of its own before, that is an
// adapter. Buffers are read in vectors of four: strides, columns and ranks are
// multiples of 4, and what a rank lacks are zeros in B.
type LowRank struct {
	U      *wgslkit.Buffer // [width, Stride]
	Stride int
	B      *wgslkit.Buffer // of all parts
	// Parts are those of rows that follow each other. Of a Paired matrix, the first
	// is gate's and the second up's, whose rows take turns.
	Parts []LowRankPart
	// First is what the matrix's row 0 is among the parts' rows.
	First int
}

// LowRankPart is what neighbouring rows get.
type LowRankPart struct {
	First  int // row; up to the next part's
	Column int // of U
	Rank   int // 0 for rows that get nothing
	B      int // where its B [rows, Rank] begins, in values
}

// From is the same for a matrix that begins at a row further on; nil for nil.
func (l *LowRank) From(row int) *LowRank {
	if l == nil {
		return nil
	}
	from := *l
	from.First += row
	return &from
}

// Of is the same for a matrix with the rows of one part alone; nil for nil.
func (l *LowRank) Of(part int) *LowRank {
	if l == nil {
		return nil
	}
	of := *l
	of.Parts, of.First = l.Parts[part:part+1], l.Parts[part].First
	return &of
}

func (l *LowRank) check(o Linear) error {
	if l == nil {
		return nil
	}
	switch {
	case o.Bounds != nil || o.In.Add != nil:
		return fmt.Errorf("%w: a product with LowRank has no bounds, and adds nothing to its input: the one that "+
			"makes U did so", wgslkit.ErrValidation)
	case len(l.Parts) == 0 || len(l.Parts) > LowRankParts || o.W.Layout == weights.Paired && len(l.Parts) != 2:
		return fmt.Errorf("%w: LowRank of %d parts", wgslkit.ErrValidation, len(l.Parts))
	}
	multiple := l.Stride
	for _, p := range l.Parts {
		multiple |= p.Column | p.Rank | p.B
	}
	if multiple%4 != 0 {
		return fmt.Errorf("%w: LowRank's strides, columns and ranks are multiples of 4", wgslkit.ErrValidation)
	}
	return nil
}

// most is the longest sum that is added to a row's, in vectors of four.
func (l *LowRank) most() int {
	most := 0
	if l != nil {
		for _, p := range l.Parts {
			most = max(most, p.Rank/4)
		}
	}
	return most
}

// lowRankParams is LowRank of low_rank.wgsl.
type lowRankParams struct {
	Parts                 [LowRankParts][4]uint32
	Stride, First, Paired uint32
}

// params is a kernel's params with those of low_rank.wgsl behind them, where WGSL
// puts a struct in a struct: on a multiple of 16 bytes.
func (l *LowRank) params(layout weights.Layout, params any) any {
	if l == nil {
		return params
	}
	low := lowRankParams{Stride: uint32(l.Stride / 4), First: uint32(l.First)}
	for i := range low.Parts {
		low.Parts[i][0] = math.MaxUint32 // no row is of a part that is not there
		if i < len(l.Parts) {
			p := l.Parts[i]
			low.Parts[i] = [4]uint32{uint32(p.First), uint32(p.Column / 4), uint32(p.Rank / 4), uint32(p.B / 4)}
		}
	}
	if layout == weights.Paired {
		low.Paired = 1
	}
	raw, _ := binary.Append(nil, binary.LittleEndian, params)
	raw = append(raw, make([]byte, -len(raw)&15)...)
	raw, _ = binary.Append(raw, binary.LittleEndian, low)
	return raw
}

// inPlaceOf puts what is read where a product with one token binds what it would add
// to its input.
func (l *LowRank) inPlaceOf(v wgslkit.Variant, addX, addW *wgslkit.Buffer) (_, _ *wgslkit.Buffer) {
	if l == nil {
		return addX, addW
	}
	v["LOW_RANK"] = true
	return l.U, l.B
}
