package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// NoRow stands among the rows of PickRows for one of zeros.
const NoRow = 1<<32 - 1

// PickRows is Out[t] = X[Rows[p + t]] for the replay's tokens t, with p its first
// position, or with Back Out[Rows[p + t]] = X[t], which leaves other rows as they are.
//
// What is picked from, or with Back written to, may lie in several buffers, each of
// which has an op: its rows are those from First on, Count of them. What lies in
// another one is left alone with Back or Keep, and 0 without.
type PickRows struct {
	Label        string
	Rows         *wgslkit.Buffer // u32; NoRow gives zeros, not with Back
	X, Out       *wgslkit.Buffer // rows of Size
	Size         int
	Back         bool
	First, Count int  // Count 0: all
	Keep         bool // not with Back
}

type pickRowsParams struct{ Size, First, Count uint32 }

// orAll is a bound that 0 stands for none of.
func orAll(n int) uint32 {
	if n == 0 {
		return NoRow
	}
	return uint32(n)
}

// Record records the op.
func (o PickRows) Record(r *record.Recorder) {
	r.Dispatch(Files, "pick_rows.wgsl", wgslkit.Variant{"THREADS": record.GridThreads, "BACK": o.Back, "KEEP": o.Keep},
		wgslkit.Call{
			Label: o.Label, Params: pickRowsParams{uint32(o.Size), uint32(o.First), orAll(o.Count)},
			Bind: record.BindAll(r.State(), o.Rows, o.X, o.Out), Grid: record.ValueGrid(o.Size),
		})
}
