package ops

import "github.com/gemwire/gemwire/wgslkit"

// RMSNorm is y = rms(scale·x; w) over each group of Size values.
type RMSNorm struct {
	Label  string
	X, Y   *wgslkit.Buffer // [width, Groups, Size]
	Weight *wgslkit.Buffer // [Size], nil for none
	Groups int             // 0 counts as 1
	Size   int
	Eps    float32
	Scale  float32 // 0 counts as 1
}

type rmsNormParams struct {
	Size, Groups uint32
	Eps, Scale   float32
}

// RMSNorm records the op.
func (r *Recorder) RMSNorm(o RMSNorm) {
	groups := max(o.Groups, 1)
	weight := o.Weight
	if weight == nil {
		weight = o.X
	}
	scale := o.Scale
	if scale == 0 {
		scale = 1
	}
	r.dispatch("rms_norm.wgsl", wgslkit.Variant{"THREADS": r.kit.tuning.Threads, "WEIGHTED": o.Weight != nil}, wgslkit.Call{
		Label:  o.Label,
		Bind:   []wgslkit.Binding{r.state.All(), o.X.All(), weight.All(), o.Y.All()},
		Params: rmsNormParams{uint32(o.Size), uint32(groups), o.Eps, scale},
		Grid:   wgslkit.Grid{X: uint32(groups), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}
