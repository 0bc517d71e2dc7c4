package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// LayerNorm is y = (x − mean(x)) / √(var(x) + Eps) ⊙ Weight + Bias over each token's Size
// values.
type LayerNorm struct {
	Label        string
	X, Y         *wgslkit.Buffer // [width, Size]
	Weight, Bias *wgslkit.Buffer // [Size]
	Size         int
	Eps          float32
}

type layerNormParams struct {
	Size uint32
	Eps  float32
}

// Record records the op.
func (o LayerNorm) Record(r *record.Recorder) {
	r.Dispatch(Files, "layer_norm.wgsl", r.RowVariant(wgslkit.Variant{}), wgslkit.Call{
		Label: o.Label, Params: layerNormParams{uint32(o.Size), o.Eps},
		Bind: record.BindAll(o.X, o.Weight, o.Bias, o.Y),
		Grid: record.RowGrid(1),
	})
}
