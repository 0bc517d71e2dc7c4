package ops

import "github.com/gemwire/gemwire/wgslkit"

// NoRow stands among the rows of PickRows for one of zeros.
const NoRow = 1<<32 - 1

// PickRows is Out[t] = X[Rows[p + t]] for the replay's tokens t, with p its first
// position, or with Back Out[Rows[p + t]] = X[t], which leaves other rows as they are.
type PickRows struct {
	Label  string
	Rows   *wgslkit.Buffer // u32; NoRow gives zeros, not with Back
	X, Out *wgslkit.Buffer // rows of Size
	Size   int
	Back   bool
}

type pickRowsParams struct{ Size uint32 }

// PickRows records the op.
func (r *Recorder) PickRows(o PickRows) {
	r.dispatch("pick_rows.wgsl", wgslkit.Variant{"THREADS": gridThreads, "BACK": o.Back}, wgslkit.Call{
		Label: o.Label, Params: pickRowsParams{uint32(o.Size)}, Bind: bindAll(r.state, o.Rows, o.X, o.Out), Grid: valueGrid(o.Size),
	})
}
