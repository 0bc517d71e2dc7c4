package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Combine is Out = Scale·(A + B), or with Accumulate Out += it.
type Combine struct {
	Label      string
	A, B, Out  *wgslkit.Buffer // [width, Size]; B nil for none; Out is neither
	Size       int
	ARows      Columns // where the rows of A, and of Out, are wider than Size
	OutRows    Columns
	Scale      float32 // 0 counts as 1
	Accumulate bool
}

// Columns is a part of wider rows: of each Row values, those from Offset on.
type Columns struct{ Row, Offset int }

func (c Columns) rowOr(size int) uint32 {
	if c.Row == 0 {
		return uint32(size)
	}
	return uint32(c.Row)
}

type combineParams struct {
	Size                             uint32
	Scale                            float32
	ARow, AOffset, OutRow, OutOffset uint32
}

// Record records the op.
func (o Combine) Record(r *record.Recorder) {
	bind := record.BindAll(o.A, o.B, o.Out)
	if o.B == nil {
		bind = record.BindAll(o.A, o.Out)
	}
	r.Dispatch(Files, "combine.wgsl", wgslkit.Variant{"THREADS": record.GridThreads, "ONE": o.B == nil,
		"ADD": o.Accumulate}, wgslkit.Call{
		Label: o.Label, Params: o.params(), Bind: bind,
		Grid: record.ValueGrid(o.Size),
	})
}

func (o Combine) params() combineParams {
	return combineParams{
		Size: uint32(o.Size), Scale: record.OrOne(o.Scale),
		ARow: o.ARows.rowOr(o.Size), AOffset: uint32(o.ARows.Offset),
		OutRow: o.OutRows.rowOr(o.Size), OutOffset: uint32(o.OutRows.Offset),
	}
}
