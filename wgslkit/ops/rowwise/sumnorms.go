package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// SumNorms is out = rms(a; AWeight) + rms(b; BWeight) of each row.
type SumNorms struct {
	Label            string
	A, B, Out        *wgslkit.Buffer // [width, Size]; Out may be neither A nor B
	AWeight, BWeight *wgslkit.Buffer // [Size], nil for none
	Size             int
	Eps              float32
}

type sumNormsParams struct {
	Size uint32
	Eps  float32
}

// Record records the op.
func (o SumNorms) Record(r *record.Recorder) {
	v := r.RowVariant(wgslkit.Variant{"A_WEIGHTED": o.AWeight != nil, "B_WEIGHTED": o.BWeight != nil})
	r.Dispatch(Files, "sum_norms.wgsl", v, wgslkit.Call{
		Label: o.Label,
		Bind: []wgslkit.Binding{
			o.A.All(), o.B.All(), record.OrBuffer(o.AWeight, o.A).All(), record.OrBuffer(o.BWeight, o.B).All(),
			o.Out.All(),
		},
		Params: sumNormsParams{uint32(o.Size), o.Eps},
		Grid:   record.RowGrid(1),
	})
}
