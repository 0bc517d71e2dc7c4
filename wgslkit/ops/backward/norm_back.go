package backward

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// RMSNormBack is DX = what y = rms(x; Weight) hands back to x for Scale·dy, over
// each group of Size values; with Add DX += it.
type RMSNormBack struct {
	Label  string
	X, DX  record.Slice    // rows of Groups·Size values; two buffers
	DY     *wgslkit.Buffer // [width, Groups, Size]
	Weight *wgslkit.Buffer // [Size], nil for none
	Groups int             // 0 counts as 1
	Size   int
	Eps    float32
	Scale  float32 // 0 counts as 1
	Add    bool
}

type rmsNormBackParams struct {
	Size, Groups                           uint32
	Eps, Scale                             float32
	XOffset, XStride, OutOffset, OutStride uint32
}

// Record records the op.
func (o RMSNormBack) Record(r *record.Recorder) {
	groups := max(o.Groups, 1)
	row := groups * o.Size
	v := r.RowVariant(wgslkit.Variant{"WEIGHTED": o.Weight != nil, "ADD": o.Add})
	r.Dispatch(Files, "rms_norm_back.wgsl", v, wgslkit.Call{
		Label: o.Label,
		Bind:  record.BindAll(o.X.Buffer, o.DY, record.OrBuffer(o.Weight, o.X.Buffer), o.DX.Buffer),
		Params: rmsNormBackParams{
			uint32(o.Size), uint32(groups), o.Eps, record.OrOne(o.Scale),
			uint32(o.X.Offset), o.X.StrideOr(row), uint32(o.DX.Offset), o.DX.StrideOr(row),
		},
		Grid: record.RowGrid(groups),
	})
}
