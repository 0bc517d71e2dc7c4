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
	RowsOfGroup                            uint32
	InMin, InMax                           float32
}

const (
	// productThreads share a row: as many as make a subgroup of the smallest kind.
	productThreads = 4
	// productRows is the most rows of a workgroup: each thread has its part of their sums.
	productRows = 64
)

// stripColumns are the columns of a strip of the types that have strips of their
// own, wgsl/strips/<name>.wgsl; for the others, units are decoded as everywhere.
var stripColumns = map[quant.Type]int{quant.Q4_K: 64, quant.Q6_K: 64, quant.F16: 32}

// product records a product of any number of tokens whose input is ready.
func (r *Recorder) product(o Linear) {
	w, t := o.W, r.kit.tuning
	v := wgslkit.Variant{"STRIPS": decoderOf(w.Type)}
	strips := w.row.units
	if columns := stripColumns[w.Type]; columns > 0 {
		strips = ceilDiv(w.Cols, columns)
	} else {
		v = w.variant()
		v["STRIPS"], v["QUICK_BYTES"] = "units", true
	}
	v["THREADS"], v["ROWS"], v["SUBGROUPS"] = productThreads, productRows, t.Subgroups
	inMin, inMax := o.Bounds.inputs()
	for _, tile := range w.tiles {
		rows := productRowsOf(t, tile.rows, strips+o.LowRank.most())
		r.dispatch("product.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind:  o.LowRank.bind(v, o.Bounds.bind(v, append([]wgslkit.Binding{tile.bind()}, bindAll(o.In.X, orBuffer(o.Mul, o.In.X), o.Out)...))),
			Params: o.LowRank.params(w.Layout, productParams{
				Rows: uint32(tile.rows), First: uint32(tile.first), Cols: uint32(w.Cols), Strips: uint32(strips),
				RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Flags: o.flags(),
				XOffset: uint32(o.In.Offset), XStride: uint32(o.In.Stride), OutOffset: uint32(o.OutOffset), OutStride: uint32(o.OutStride),
				MulOffset: uint32(o.MulOffset), MulStride: uint32(o.MulStride), Act: uint32(o.Act), Softcap: o.Softcap,
				RowsOfGroup: uint32(rows), InMin: inMin, InMax: inMax,
			}),
			Grid: wgslkit.Grid{X: uint32(ceilDiv(tile.rows, rows)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
		})
	}
}

// productRowsOf shares rows among the workgroups, in pairs: two for each
// processor make up for one that has other work too.
func productRowsOf(t Tuning, rows, strips int) int {
	share := ceilDiv(rows, 2*t.MatvecGroups)
	turns := ceilDiv(strips, productThreads) + 2
	return min(productRows, (share+1)/2*2, max(2, mostIterations/(turns*16)/2*2))
}
