package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// NormAdd is out = (rms(AScale·a; Weight) + BScale·b)·OutScale over each group of Size values.
type NormAdd struct {
	Label                    string
	A, B, Out                *wgslkit.Buffer // [width, Groups, Size]; Out may be neither A nor B
	Weight                   *wgslkit.Buffer // [Size], nil for none
	Groups                   int             // 0 counts as 1
	Size                     int
	Eps                      float32
	AScale, BScale, OutScale float32 // 0 counts as 1
}

type normAddParams struct {
	Size, Groups                  uint32
	Eps, AScale, BScale, OutScale float32
}

// Record records the op.
func (o NormAdd) Record(r *record.Recorder) {
	groups := max(o.Groups, 1)
	r.Dispatch(Files, "norm_add.wgsl", r.RowVariant(wgslkit.Variant{"WEIGHTED": o.Weight != nil}), wgslkit.Call{
		Label: o.Label,
		Bind:  []wgslkit.Binding{o.A.All(), o.B.All(), record.OrBuffer(o.Weight, o.A).All(), o.Out.All()},
		Params: normAddParams{
			uint32(o.Size), uint32(groups), o.Eps, record.OrOne(o.AScale), record.OrOne(o.BScale),
			record.OrOne(o.OutScale),
		},
		Grid: record.RowGrid(groups),
	})
}
