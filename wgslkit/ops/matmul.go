package ops

import "github.com/gemwire/gemwire/wgslkit"

// matmulParams is Params of wgsl/matmul.wgsl.
type matmulParams struct {
	Rows, First, Cols, Units               uint32
	RowSize, Plane1, Plane2, Flags         uint32
	XOffset, XStride, OutOffset, OutStride uint32
	MulOffset, MulStride, Act              uint32
	Softcap                                float32
}

// matmulTile is the rows, and the tokens, of a workgroup.
const matmulTile = 64

// matmul records a product of many tokens whose input is ready.
func (r *Recorder) matmul(o Linear) {
	w := o.W
	v := w.variant()
	v["GATED"] = o.Gated
	for _, tile := range w.tiles {
		r.dispatch("matmul.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind:  bindAll(r.state, tile.buffer, o.In.X, orBuffer(o.Mul, o.In.X), o.Out),
			Params: matmulParams{
				Rows: uint32(tile.rows), First: uint32(tile.first), Cols: uint32(w.Cols), Units: uint32(w.row.units),
				RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Flags: o.flags(),
				XOffset: uint32(o.In.Offset), XStride: uint32(o.In.Stride), OutOffset: uint32(o.OutOffset), OutStride: uint32(o.OutStride),
				MulOffset: uint32(o.MulOffset), MulStride: uint32(o.MulStride), Act: uint32(o.Act), Softcap: o.Softcap,
			},
			Grid: wgslkit.Grid{X: uint32((tile.rows + matmulTile - 1) / matmulTile), Y: 1, Tile: matmulTile, Along: wgslkit.AlongY},
		})
	}
}
