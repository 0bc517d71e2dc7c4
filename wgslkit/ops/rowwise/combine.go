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
	Scale      float32 // 0 counts as 1
	Accumulate bool
}

type combineParams struct {
	Size  uint32
	Scale float32
}

// Record records the op.
func (o Combine) Record(r *record.Recorder) {
	bind := record.BindAll(o.A, o.B, o.Out)
	if o.B == nil {
		bind = record.BindAll(o.A, o.Out)
	}
	r.Dispatch(Files, "combine.wgsl", wgslkit.Variant{"THREADS": record.GridThreads, "ONE": o.B == nil,
		"ADD": o.Accumulate}, wgslkit.Call{
		Label: o.Label, Params: combineParams{uint32(o.Size), record.OrOne(o.Scale)}, Bind: bind,
		Grid: record.ValueGrid(o.Size),
	})
}
