package ops

import "github.com/gemwire/gemwire/wgslkit"

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

// RMSNorm records the op.
func (r *Recorder) RMSNorm(o RMSNorm) {
	groups := max(o.Groups, 1)
	x := Slice{o.X, o.XOffset, o.XStride}
	r.dispatch("rms_norm.wgsl", r.rowVariant(wgslkit.Variant{"WEIGHTED": o.Weight != nil}), wgslkit.Call{
		Label: o.Label,
		Bind:  []wgslkit.Binding{r.state.All(), o.X.All(), orBuffer(o.Weight, o.X).All(), o.Y.All()},
		Params: rmsNormParams{
			uint32(o.Size), uint32(groups), o.Eps, orOne(o.Scale), uint32(x.Offset), x.stride(groups * o.Size),
		},
		Grid: rowGrid(groups),
	})
}

// rowVariant adds the workgroup size of kernels that reduce over a row, and
// whether a workgroup is one subgroup.
func (r *Recorder) rowVariant(v wgslkit.Variant) wgslkit.Variant {
	v["THREADS"] = r.kit.tuning.Threads
	if r.kit.tuning.smallest() {
		v["SUBGROUPS"] = true
	}
	return v
}

// rowGrid is a workgroup for each of a token's groups (x) and each token (y).
func rowGrid(groups int) wgslkit.Grid {
	return wgslkit.Grid{X: uint32(groups), Y: 1, Tile: 1, Along: wgslkit.AlongY}
}

// orOne reads a factor whose zero value means 1.
func orOne(factor float32) float32 {
	if factor == 0 {
		return 1
	}
	return factor
}
