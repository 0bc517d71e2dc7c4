package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// SelectLast copies Size values of the replay's last token: row width−1 of In.
type SelectLast struct {
	Label string
	In    record.Slice
	Out   *wgslkit.Buffer // [Size]
	Size  int
}

type selectLastParams struct{ Size, Offset, Stride uint32 }

// Record records the op.
func (o SelectLast) Record(r *record.Recorder) {
	const threads = 64
	r.Dispatch(Files, "select_last.wgsl", wgslkit.Variant{"THREADS": threads}, wgslkit.Call{
		Label:  o.Label,
		Bind:   []wgslkit.Binding{r.State().All(), o.In.Buffer.All(), o.Out.All()},
		Params: selectLastParams{uint32(o.Size), uint32(o.In.Offset), o.In.StrideOr(o.Size)},
		Grid:   wgslkit.Grid{X: uint32((o.Size + threads - 1) / threads)},
	})
}
