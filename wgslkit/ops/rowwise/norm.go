package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// RMSNorm is y = rms(scale·x; w) over each group of Size values.
type RMSNorm struct {
	Label   string
	X       *wgslkit.Buffer // rows of Groups·Size values
	XOffset int             // values into X
	XStride int             // values from row to row of X; 0 counts as Groups·Size
	Y       *wgslkit.Buffer // [width, Groups, Size]
	Weight  *wgslkit.Buffer // [Size], nil for none
	Groups  int             // 0 counts as 1
	Size    int
	Eps     float32
	Scale   float32 // 0 counts as 1
}

type rmsNormParams struct {
	Size, Groups     uint32
	Eps, Scale       float32
	XOffset, XStride uint32
}

// Record records the op.
func (o RMSNorm) Record(r *record.Recorder) {
	groups := max(o.Groups, 1)
	x := record.Slice{Buffer: o.X, Offset: o.XOffset, Stride: o.XStride}
	r.Dispatch(Files, "rms_norm.wgsl", r.RowVariant(wgslkit.Variant{"WEIGHTED": o.Weight != nil}), wgslkit.Call{
		Label: o.Label,
		Bind:  []wgslkit.Binding{r.State().All(), o.X.All(), record.OrBuffer(o.Weight, o.X).All(), o.Y.All()},
		Params: rmsNormParams{
			uint32(o.Size), uint32(groups), o.Eps, record.OrOne(o.Scale), uint32(x.Offset), x.StrideOr(groups * o.Size),
		},
		Grid: record.RowGrid(groups),
	})
}
