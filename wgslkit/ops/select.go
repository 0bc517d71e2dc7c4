package ops

import "github.com/gemwire/gemwire/wgslkit"

// SelectLast copies Size values of the replay's last token: row width−1 of In.
type SelectLast struct {
	Label string
	In    Slice
	Out   *wgslkit.Buffer // [Size]
	Size  int
}

type selectLastParams struct{ Size, Offset, Stride uint32 }

// SelectLast records the op.
func (r *Recorder) SelectLast(o SelectLast) {
	const threads = 64
	r.dispatch("select_last.wgsl", wgslkit.Variant{"THREADS": threads}, wgslkit.Call{
		Label:  o.Label,
		Bind:   []wgslkit.Binding{r.state.All(), o.In.Buffer.All(), o.Out.All()},
		Params: selectLastParams{uint32(o.Size), uint32(o.In.Offset), o.In.stride(o.Size)},
		Grid:   wgslkit.Grid{X: uint32((o.Size + threads - 1) / threads)},
	})
}
