package product

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// The rows and the tokens of a workgroup.
const (
	matmulTile         = 64 // both, in matmul.wgsl
	matmulLoopedTokens = 4
	// tileMemory is the workgroup memory of matmul.wgsl in bytes.
	tileMemory = 16 * (256 + 272)
)

// recordTiles records a product of many tokens by matmul.wgsl, or by matmul_looped.wgsl on
// processors.
func recordTiles(r *record.Recorder, p *operand) {
	for _, tile := range p.W.Tiles {
		v, params := p.W.Variant(), p.params.of(tile)
		bind := append(p.manyBindings(r, tile, p.Out), p.behind(v)...)
		if p.factors != nil {
			v["HALF_TILES"] = true
			bind = append(bind, p.factors.All())
		}
		v["GATED"] = p.Gated
		if !r.Tuning().MatvecLooped {
			weights.ShareCodebook(v, tileMemory, int(r.Limits().MaxWorkgroupStorage))
			v["ALIGNED"] = p.W.Cols%16 == 0 && p.In.Stride%4 == 0 && p.In.Offset%4 == 0
			grid := wgslkit.Grid{X: uint32(record.CeilDiv(tile.Rows, matmulTile)), Y: 1, Tile: matmulTile,
				Along: wgslkit.AlongY}
			p.call(r, "matmul.wgsl", v, grid, params, bind...)
			continue
		}
		s := LoopedShape(r.Kit(), p.W, tile.Rows)
		params.Lanes, params.RowsOfThread = uint32(s.Lanes), uint32(s.Rows)
		v["THREADS"], v["ROWS"] = s.Threads, s.MostRows
		grid := wgslkit.Grid{X: uint32(s.Tasks(tile.Rows)), Y: 1, Tile: matmulLoopedTokens, Along: wgslkit.AlongY}
		p.call(r, "matmul_looped.wgsl", v, grid, params, bind...)
	}
}

// manyBindings are the bindings that kernels of many tokens begin with.
func (p *operand) manyBindings(r *record.Recorder, tile weights.MatrixTile, out *wgslkit.Buffer) []wgslkit.Binding {
	return append([]wgslkit.Binding{r.State().All(), tile.Bind()}, record.BindAll(p.In.X, p.mul(), out)...)
}
