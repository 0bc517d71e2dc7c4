package ops

import "github.com/gemwire/gemwire/wgslkit"

// matmulParams is Params of wgsl/matmul.wgsl and wgsl/matmul_looped.wgsl.
type matmulParams struct {
	Rows, First, Cols, Units               uint32
	RowSize, Plane1, Plane2, Flags         uint32
	XOffset, XStride, OutOffset, OutStride uint32
	MulOffset, MulStride, Act              uint32
	Softcap                                float32
	Lanes, RowsOfThread                    uint32
	InMin, InMax                           float32
}

// The rows and the tokens of a workgroup.
const (
	matmulTile         = 64 // both, in matmul.wgsl
	matmulLoopedTokens = 4
)

// matmul records a product of many tokens whose input is ready.
func (r *Recorder) matmul(o Linear) {
	w := o.W
	for _, tile := range w.tiles {
		params := matmulParams{
			Rows: uint32(tile.rows), First: uint32(tile.first), Cols: uint32(w.Cols), Units: uint32(w.row.units),
			RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Flags: o.flags(),
			XOffset: uint32(o.In.Offset), XStride: uint32(o.In.Stride), OutOffset: uint32(o.OutOffset), OutStride: uint32(o.OutStride),
			MulOffset: uint32(o.MulOffset), MulStride: uint32(o.MulStride), Act: uint32(o.Act), Softcap: o.Softcap,
		}
		params.InMin, params.InMax = o.Bounds.inputs()
		c := wgslkit.Call{Label: o.Label, Bind: append([]wgslkit.Binding{r.state.All(), tile.bind()}, bindAll(o.In.X, orBuffer(o.Mul, o.In.X), o.Out)...)}
		v := w.variant()
		c.Bind = o.bind(v, c.Bind)
		v["GATED"] = o.Gated
		if !r.kit.tuning.MatvecLooped {
			v["ALIGNED"] = w.Cols%16 == 0 && o.In.Stride%4 == 0 && o.In.Offset%4 == 0
			c.Params = o.LowRank.params(w.Layout, params)
			c.Grid = wgslkit.Grid{X: uint32(ceilDiv(tile.rows, matmulTile)), Y: 1, Tile: matmulTile, Along: wgslkit.AlongY}
			r.dispatch("matmul.wgsl", v, c)
			continue
		}
		s := r.kit.loopedShape(w, tile.rows)
		params.Lanes, params.RowsOfThread = uint32(s.lanes), uint32(s.rows)
		c.Params = o.LowRank.params(w.Layout, params)
		c.Grid = wgslkit.Grid{X: uint32(s.tasks(tile.rows)), Y: 1, Tile: matmulLoopedTokens, Along: wgslkit.AlongY}
		v["THREADS"], v["ROWS"] = s.threads, s.mostRows
		r.dispatch("matmul_looped.wgsl", v, c)
	}
}

// loopedShape cuts a product of rows with four tokens at a time.
func (k *Kit) loopedShape(w *Matrix, rows int) matvecShape {
	s := matvecShape{threads: k.tuning.MatvecThreads}
	s.cutLooped(k.tuning, w, rows)
	s.rows, s.mostRows = min(s.rows, 32), 32
	return s
}
