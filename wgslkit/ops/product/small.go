package product

import (
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

const (
	// productThreads share a row: as many as make a subgroup of the smallest kind.
	productThreads = 4
	// productRows is the most rows of a workgroup: each thread has its part of their sums.
	productRows = 64
)

// stripColumns are the columns of a strip of the types that have strips of their
// own, strips/<name>.wgsl; for the others, units are decoded as everywhere.
var stripColumns = map[quant.Type]int{quant.Q4_K: 64, quant.Q6_K: 64, quant.F16: 32}

// recordSmall records a product of any number of tokens by product.wgsl.
func recordSmall(r *record.Recorder, p *operand) {
	w, t := p.W, r.Tuning()
	v := wgslkit.Variant{"STRIPS": weights.DecoderOf(w.Type)}
	strips := w.Row.Units
	if columns := stripColumns[w.Type]; columns > 0 {
		strips = record.CeilDiv(w.Cols, columns)
	} else {
		v = w.Variant()
		v["STRIPS"], v["QUICK_BYTES"] = "units", true
	}
	v["THREADS"], v["ROWS"], v["SUBGROUPS"] = productThreads, productRows, t.Subgroups
	for _, tile := range w.Tiles {
		rows := productRowsOf(t, tile.Rows, strips+p.LowRank.most())
		params := p.params.of(tile)
		params.Units, params.RowsOfThread = uint32(strips), uint32(rows)
		bind := append([]wgslkit.Binding{tile.Bind()}, record.BindAll(p.In.X, p.mul(), p.Out)...)
		bind = append(bind, p.behind(v)...)
		grid := wgslkit.Grid{X: uint32(record.CeilDiv(tile.Rows, rows)), Y: 1, Tile: 1, Along: wgslkit.AlongY}
		p.call(r, "product.wgsl", v, grid, params, bind...)
	}
}

// productRowsOf shares rows among the workgroups, in pairs: two for each
// processor make up for one that has other work too.
func productRowsOf(t record.Tuning, rows, strips int) int {
	share := record.CeilDiv(rows, 2*t.MatvecGroups)
	turns := record.CeilDiv(strips, productThreads) + 2
	return min(productRows, (share+1)/2*2, max(2, mostIterations/(turns*16)/2*2))
}
