package ops

import (
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
)

// productParams is Params of wgsl/product.wgsl.
type productParams struct {
	Rows, First, Cols, Strips              uint32
	RowSize, Plane1, Plane2, Flags         uint32
	XOffset, XStride, OutOffset, OutStride uint32
	MulOffset, MulStride, Act              uint32
	Softcap                                float32
	RowsOfThread                           uint32
	InMin, InMax                           float32
}

const (
	// productRows is the most rows of a thread: their sums are the thread's own.
	productRows = 32
	// productStrip is the columns of a strip of the types below.
	productStrip = 64
)

// stripped are the types with strips of their own, wgsl/strips/<name>.wgsl;
// for the others, units are decoded as everywhere.
var stripped = map[quant.Type]bool{quant.Q4_K: true, quant.Q6_K: true}

// product records a product of any number of tokens whose input is ready.
func (r *Recorder) product(o Linear) {
	w, t := o.W, r.kit.tuning
	v := wgslkit.Variant{"THREADS": t.Threads, "ROWS": productRows, "STRIPS": decoderOf(w.Type)}
	strips := w.Cols / productStrip
	if !stripped[w.Type] {
		v = w.variant()
		v["THREADS"], v["ROWS"], v["STRIPS"], v["QUICK_BYTES"] = t.Threads, productRows, "units", true
		strips = w.row.units
	}
	inMin, inMax := o.Bounds.inputs()
	for _, tile := range w.tiles {
		rows := productRowsOf(t, tile.rows, strips)
		r.dispatch("product.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind:  o.Bounds.bind(v, bindAll(tile.buffer, o.In.X, orBuffer(o.Mul, o.In.X), o.Out)),
			Params: productParams{
				Rows: uint32(tile.rows), First: uint32(tile.first), Cols: uint32(w.Cols), Strips: uint32(strips),
				RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Flags: o.flags(),
				XOffset: uint32(o.In.Offset), XStride: uint32(o.In.Stride), OutOffset: uint32(o.OutOffset), OutStride: uint32(o.OutStride),
				MulOffset: uint32(o.MulOffset), MulStride: uint32(o.MulStride), Act: uint32(o.Act), Softcap: o.Softcap,
				RowsOfThread: uint32(rows), InMin: inMin, InMax: inMax,
			},
			Grid: wgslkit.Grid{X: uint32(ceilDiv(tile.rows, rows*t.Threads)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
		})
	}
}

// productRowsOf shares rows among the workgroups, in pairs.
func productRowsOf(t Tuning, rows, strips int) int {
	share := ceilDiv(rows, t.MatvecGroups*t.Threads)
	return min(productRows, (share+1)/2*2, max(2, mostIterations/(strips+16)/2*2))
}
