package product

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Dense is Out = Scale·A·B, or with Add Out += Scale·A·B: Out [M, N] of A [M, K]
// and B [K, N]. M = 0 or K = 0 stands for the replay's width.
type Dense struct {
	Label     string
	A, B, Out record.Lattice
	M, N, K   int
	Scale     float32 // 0 counts as 1
	Add       bool
}

type denseParams struct {
	M, N, K, Splits                  uint32
	AOffset, ARow, AColumn, Capacity uint32
	BOffset, BRow, BColumn           uint32
	Scale                            float32
	OutOffset, OutRow, OutColumn     uint32
}

const (
	denseTile = 32 // rows, columns and what is summed at a time, of dense.wgsl
	// leastDenseSplit is the fewest products of a sum that a split is worth while for.
	leastDenseSplit = 256
)

// Record records the op.
func (o Dense) Record(r *record.Recorder) {
	if r.Err() != nil {
		return
	}
	if r.Tuning().SmallKernels {
		densePlain(r, o)
		return
	}
	columns := record.CeilDiv(o.N, denseTile)
	splits := 1
	if r.Tuning().LargeTiles && o.M == 0 && o.K > 0 {
		splits = max(1, min(record.CeilDiv(fullGPU, columns*record.CeilDiv(r.Width(), denseTile)), o.K/leastDenseSplit))
	}
	out := o.Out.Bind
	var parts *wgslkit.Buffer
	if splits > 1 {
		if parts = r.Temp("sums of splits", splits*r.Width()*o.N); r.Err() != nil {
			return
		}
		out = parts.All()
	}
	grid := wgslkit.Grid{X: uint32(columns), Y: uint32(record.CeilDiv(o.M, denseTile)), Z: uint32(splits)}
	if o.M == 0 {
		grid.Y, grid.Tile, grid.Along = 1, denseTile, wgslkit.AlongY
	}
	v := wgslkit.Variant{
		"ROWS_ARE_TOKENS": o.M == 0, "SUMS_OVER_TOKENS": o.K == 0, "ADD": o.Add && splits == 1, "SPLIT": splits > 1,
		"A_ALONG_K": o.A.Column <= o.A.Row, "B_ALONG_N": o.B.Column <= o.B.Row,
	}
	r.Dispatch(Files, "dense.wgsl", v, wgslkit.Call{
		Label: o.Label, Bind: []wgslkit.Binding{r.State().All(), o.A.Bind, o.B.Bind, out}, Grid: grid,
		Params: o.params(splits, r.Width()),
	})
	if splits > 1 {
		SumSplits(r, o.Label, splits, o.N, parts, o.Out.Bind, uint32(o.Out.Offset), uint32(o.Out.Row),
			uint32(o.Out.Column), o.Add)
	}
}

func (o *Dense) params(splits, capacity int) denseParams {
	return denseParams{
		uint32(o.M), uint32(o.N), uint32(o.K), uint32(splits),
		uint32(o.A.Offset), uint32(o.A.Row), uint32(o.A.Column), uint32(capacity),
		uint32(o.B.Offset), uint32(o.B.Row), uint32(o.B.Column), record.OrOne(o.Scale),
		uint32(o.Out.Offset), uint32(o.Out.Row), uint32(o.Out.Column),
	}
}

// densePlain records the op for a device that compiles slowly.
func densePlain(r *record.Recorder, o Dense) {
	grid := wgslkit.Grid{X: uint32(record.CeilDiv(o.N, record.GridThreads)), Y: uint32(o.M)}
	if o.M == 0 {
		grid.Y, grid.Tile, grid.Along = 1, 1, wgslkit.AlongY
	}
	v := wgslkit.Variant{"THREADS": record.GridThreads, "SUMS_OVER_TOKENS": o.K == 0, "ADD": o.Add}
	r.Dispatch(Files, "dense_plain.wgsl", v, wgslkit.Call{
		Label: o.Label, Bind: []wgslkit.Binding{r.State().All(), o.A.Bind, o.B.Bind, o.Out.Bind}, Grid: grid,
		Params: o.params(1, r.Width()),
	})
}
