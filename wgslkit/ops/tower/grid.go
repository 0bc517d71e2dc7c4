package tower

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// GridEmbed adds what stands for a token's place on a grid (StateColumns):
// X[t] ← Scale·X[t] + Table[column of t] + Table[columns + row of t].
type GridEmbed struct {
	Label string
	X     *wgslkit.Buffer // [width, Size]
	Table *wgslkit.Buffer // [columns + rows, Size]: of the columns, then of the rows
	Size  int
	Scale float32 // 0 counts as 1
}

type gridEmbedParams struct {
	Size  uint32
	Scale float32
}

// Record records the op.
func (o GridEmbed) Record(r *record.Recorder) {
	r.Dispatch(Files, "grid_embed.wgsl", wgslkit.Variant{"THREADS": record.GridThreads}, wgslkit.Call{
		Label: o.Label, Params: gridEmbedParams{uint32(o.Size), record.OrOne(o.Scale)},
		Bind: record.BindAll(r.State(), o.Table, o.X),
		Grid: wgslkit.Grid{X: uint32(record.CeilDiv(o.Size, record.GridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}

// GridPool averages the Pool × Pool tokens of each square of a grid
// (StateColumns), whose columns and rows are multiples of Pool:
// Out[s] = (Scale · mean − Bias) ⊙ Factor, the squares row by row.
type GridPool struct {
	Label        string
	X, Out       *wgslkit.Buffer // [width, Size], [width / Pool², Size]
	Size, Pool   int
	Scale        float32         // 0 counts as 1
	Bias, Factor *wgslkit.Buffer // [Size], both nil for none
}

type gridPoolParams struct {
	Size, Pool uint32
	Scale      float32
}

// Record records the op.
func (o GridPool) Record(r *record.Recorder) {
	r.Dispatch(Files, "grid_pool.wgsl", wgslkit.Variant{"THREADS": record.GridThreads, "STANDARDISED": o.Bias != nil},
		wgslkit.Call{
			Label: o.Label, Params: gridPoolParams{uint32(o.Size), uint32(o.Pool), record.OrOne(o.Scale)},
			Bind: record.BindAll(r.State(), o.X, record.OrBuffer(o.Bias, o.X), record.OrBuffer(o.Factor, o.X), o.Out),
			Grid: wgslkit.Grid{X: uint32(record.CeilDiv(o.Size, record.GridThreads)), Y: 1,
				Tile:  uint32(o.Pool * o.Pool),
				Along: wgslkit.AlongY},
		})
}
