package record

import "github.com/gemwire/gemwire/wgslkit"

// RowVariant adds the workgroup size of kernels that reduce over a row, and
// whether a workgroup is one subgroup.
func (r *Recorder) RowVariant(v wgslkit.Variant) wgslkit.Variant {
	v["THREADS"] = r.kit.tuning.Threads
	if r.kit.tuning.Smallest() {
		v["SUBGROUPS"] = true
	}
	return v
}

// RowGrid is a workgroup for each of a token's groups (x) and each token (y).
func RowGrid(groups int) wgslkit.Grid {
	return wgslkit.Grid{X: uint32(groups), Y: 1, Tile: 1, Along: wgslkit.AlongY}
}

// ValueGrid is a thread for each of a row's values (x) of each token (y).
func ValueGrid(size int) wgslkit.Grid {
	return wgslkit.Grid{X: uint32(CeilDiv(size, GridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY}
}

// GridThreads is the workgroup size of kernels with a thread for each value.
const GridThreads = 64
