package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// HalfRows stores rows of float32 as halves, each row with a factor of its own, so
// that nothing overflows; with Back it makes float32 of them again. It is for values
// that wait in memory: ops read float32.
type HalfRows struct {
	Label string
	X     *wgslkit.Buffer // [width, Size]
	Words *wgslkit.Buffer // [width, HalfWords(Size)]
	Size  int
	Back  bool
}

// HalfWords is how many words a row of so many values takes.
func HalfWords(size int) int { return 1 + (size+1)/2 }

type halfRowsParams struct{ Size uint32 }

// Record records the op.
func (o HalfRows) Record(r *record.Recorder) {
	r.Dispatch(Files, "half_rows.wgsl", wgslkit.Variant{"THREADS": r.Tuning().Threads, "BACK": o.Back}, wgslkit.Call{
		Label: o.Label, Params: halfRowsParams{uint32(o.Size)}, Bind: record.BindAll(o.Words, o.X),
		Grid: record.RowGrid(1),
	})
}
