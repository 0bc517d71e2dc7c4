package product

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

const (
	// matmulLargeTile is the rows and the tokens of a workgroup of
	// matmul_large.wgsl, and the rows of one of matmul_plain.wgsl.
	matmulLargeTile = 128
	// matmulPlainTokens is the tokens of a workgroup of matmul_plain.wgsl, which has
	// half as many threads.
	matmulPlainTokens = 64
	// fewestLarge is how many of its tiles make them worth while.
	fewestLarge = 24
	// largeTileWidth is the least width of a program that they are worth while for.
	largeTileWidth = matmulLargeTile/2 + 1
	// fullGPU is about as many workgroups as keep all processors of a large GPU
	// busy; products of fewer tiles split their columns, into splits of no fewer
	// than leastSplit.
	fullGPU, leastSplit           = 768, 512
	fullGPUPlain, leastSplitPlain = 384, 256
	// largeTileMemory is the workgroup memory of matmul_large.wgsl in bytes.
	largeTileMemory = 16 * 2 * 8 * 64
)

// LargeTileWidth is the least width of a program whose products take the tiles
// that large GPUs are fast with; 0 where there are none.
func LargeTileWidth(k *record.Kit) int {
	if !k.Tuning().LargeTiles {
		return 0
	}
	return largeTileWidth
}

// recordLargeTiles records a product of many tokens by many rows.
func recordLargeTiles(r *record.Recorder, p *operand) {
	file, tokensOfTile, full, least := "matmul_large.wgsl", matmulLargeTile, fullGPU, leastSplit
	if p.W.Type.BlockLen() == 1 {
		file, tokensOfTile, full, least = "matmul_plain.wgsl", matmulPlainTokens, fullGPUPlain, leastSplitPlain
	}
	for _, tile := range p.W.Tiles {
		rows, tokens := record.CeilDiv(tile.Rows, matmulLargeTile), record.CeilDiv(r.Width(), tokensOfTile)
		splits := fittingSplits(r, min(record.CeilDiv(full, rows*tokens), p.W.Cols/least), r.Width()*tile.Rows)
		params := p.params.of(tile)
		params.Splits, params.Capacity = uint32(splits), uint32(r.Width())
		v := p.W.Variant()
		weights.ShareCodebook(v, largeTileMemory, int(r.Limits().MaxWorkgroupStorage))
		v["GATED"], v["SPLIT"], v["PAIRED_OUT"] = p.Gated, splits > 1, p.Gated && splits == 1
		out := p.Out
		if splits > 1 {
			out = r.Temp("sums of splits", splits*r.Width()*tile.Rows)
			if r.Err() != nil {
				return
			}
		}
		bind := append(p.manyBindings(r, tile, out), p.behind(v)...)
		if p.factors != nil {
			v["HALF_TILES"] = true
			bind = append(bind, p.factors.All())
		}
		grid := wgslkit.Grid{X: uint32(rows), Y: 1, Z: uint32(splits), Tile: uint32(tokensOfTile),
			Along: wgslkit.AlongY}
		p.call(r, file, v, grid, params, bind...)
		if splits > 1 {
			endSums(r, p, params, wgslkit.Variant{}, out)
		}
	}
}

// fittingSplits is how many splits, of those wanted, leave sums that one binding holds,
// so many each; at least one.
func fittingSplits(r *record.Recorder, wanted, sums int) int {
	return max(1, min(wanted, int(r.Limits().MaxStorageBindingSize/int64(4*sums))))
}

// endSums records what ends a product whose sums are there; v and more are what
// these need besides.
func endSums(
	r *record.Recorder, p *operand, params Params, v wgslkit.Variant, sums *wgslkit.Buffer, more ...*wgslkit.Buffer,
) {
	v["THREADS"], v["GATED"], v["PAIRED_OUT"] = record.GridThreads, p.Gated, p.Gated
	bind := record.BindAll(r.State(), sums, p.mul(), p.Out)
	if p.Bounds != nil {
		v["BOUNDED"] = true
		bind = append(bind, p.Bounds.rows.All())
	}
	r.Dispatch(Files, "matmul_sum.wgsl", v, wgslkit.Call{
		Label: p.Label + " sums", Params: params, Bind: append(bind, record.BindAll(more...)...),
		Grid: wgslkit.Grid{X: uint32(record.CeilDiv(int(params.Rows)/4, record.GridThreads)), Y: 1, Tile: 1,
			Along: wgslkit.AlongY},
	})
}
