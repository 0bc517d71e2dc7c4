package ops

import "github.com/gemwire/gemwire/wgslkit"

// matvecParams is Params of wgsl/matvec.wgsl.
type matvecParams struct {
	Rows, First, Cols, Units             uint32
	Lanes, RowSize, Plane1, Plane2       uint32
	XOffset, XStride                     uint32
	OutOffset, MulOffset                 uint32
	AddEps, AddScale, NormEps, NormScale float32
	Flags, Act                           uint32
	Softcap                              float32
	Heads, HeadDim, Splits               uint32
	RowsOfThread                         uint32
}

// matvec records a product of one token, with all that goes before and after.
func (r *Recorder) matvec(o Linear) {
	w := o.W
	addX, addW, normW, addOut := r.inputBuffers(o.In)
	x, p := o.In.X, Partials{}
	if o.In.Merge != nil {
		p = *o.In.Merge
		x = p.Buffer
	}
	f := o.In.factors()
	for _, tile := range w.tiles {
		shape := r.kit.matvecShape(w, tile.rows, p.Heads*p.Splits, o.LowRank.most())
		v := w.variant()
		shape.into(v)
		v["ADD"], v["NORM"], v["GATED"], v["MERGE"] = o.In.Add != nil, o.In.Norm != nil, o.Gated, o.In.Merge != nil
		if o.In.Merge != nil {
			v["MERGE_CELLS"] = p.Heads * p.Splits
		}
		addX, addW := o.LowRank.inPlaceOf(v, addX, addW)
		r.dispatch("matvec.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind:  append([]wgslkit.Binding{tile.bind()}, bindAll(x, normW, addX, addW, orBuffer(o.Mul, x), addOut, o.Out)...),
			Params: o.LowRank.params(w.Layout, matvecParams{
				Rows: uint32(tile.rows), First: uint32(tile.first), Cols: uint32(w.Cols), Units: uint32(w.row.units),
				Lanes: uint32(shape.lanes), RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2),
				XOffset: uint32(o.In.Offset), XStride: uint32(o.In.Stride),
				OutOffset: uint32(o.OutOffset), MulOffset: uint32(o.MulOffset),
				AddEps: f.addEps, AddScale: f.addScale, NormEps: f.normEps, NormScale: f.normScale,
				Flags: o.flags(), Act: uint32(o.Act), Softcap: o.Softcap,
				Heads: uint32(p.Heads), HeadDim: uint32(p.HeadDim), Splits: uint32(p.Splits),
				RowsOfThread: uint32(shape.rows),
			}),
			Grid: wgslkit.Grid{X: uint32(shape.groups)},
		})
	}
}
