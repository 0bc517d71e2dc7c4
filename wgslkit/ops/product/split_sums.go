package product

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

type sumSplitsParams struct{ Size, Splits, Capacity, Offset, Stride, Step uint32 }

// SumSplits records the sum of what splits have left of each of the width's rows.
func SumSplits(r *record.Recorder, label string, splits, size int, parts *wgslkit.Buffer, out wgslkit.Binding, offset,
	stride, step uint32, add bool) {
	r.Dispatch(Files, "sum_splits.wgsl", wgslkit.Variant{"THREADS": record.GridThreads, "ADD": add}, wgslkit.Call{
		Label:  label + " sums",
		Params: sumSplitsParams{uint32(size), uint32(splits), uint32(r.Width()), offset, stride, step},
		Bind:   []wgslkit.Binding{parts.All(), out},
		Grid:   wgslkit.Grid{X: uint32(record.CeilDiv(size, record.GridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}
