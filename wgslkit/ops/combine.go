package ops

import "github.com/gemwire/gemwire/wgslkit"

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

// Combine records the op.
func (r *Recorder) Combine(o Combine) {
	bind := bindAll(o.A, o.B, o.Out)
	if o.B == nil {
		bind = bindAll(o.A, o.Out)
	}
	r.dispatch("combine.wgsl", wgslkit.Variant{"THREADS": gridThreads, "ONE": o.B == nil, "ADD": o.Accumulate}, wgslkit.Call{
		Label: o.Label, Params: combineParams{uint32(o.Size), orOne(o.Scale)}, Bind: bind, Grid: valueGrid(o.Size),
	})
}
