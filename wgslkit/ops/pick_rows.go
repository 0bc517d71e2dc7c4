package ops

import "github.com/gemwire/gemwire/wgslkit"

// PickRows is Out[t] = X[Rows[p + t]] for the replay's tokens t, with p its first
// position, or with Back Out[Rows[p + t]] = X[t], which leaves other rows as they are.
type PickRows struct {
	Label  string
	Rows   *wgslkit.Buffer // u32
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

// Zero records x[t] = 0 for rows of size values.
func (r *Recorder) Zero(label string, x *wgslkit.Buffer, size int) {
	r.dispatch("zero.wgsl", wgslkit.Variant{"THREADS": gridThreads}, wgslkit.Call{
		Label: label, Params: pickRowsParams{uint32(size)}, Bind: bindAll(x), Grid: valueGrid(size),
	})
}
