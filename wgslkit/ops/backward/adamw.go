package backward

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Moved is a run of parameters with what the optimizer keeps beside them; all
// buffers have one size.
type Moved struct {
	Values, Grads, First, Second *wgslkit.Buffer
}

func (m Moved) size() int { return int(m.Values.Size() / 4) }

// AdamW moves parameters along their gradients, clipped by their global length,
// and then makes the gradients 0. Where that length is no number, nothing is moved.
type AdamW struct {
	Label    string
	Runs     []Moved
	Settings *wgslkit.Buffer // AdamWSettings, read at replay
	Length   *wgslkit.Buffer // [1]: of the gradients before they were clipped
}

// AdamWSettings are the numbers of one step.
type AdamWSettings struct {
	Beta1, Rest1, Beta2, Rest2 float32 // Rest is 1 − Beta
	Epsilon                    float32
	Keep                       float32 // what weight decay leaves of a value
	Rate                       float32 // with the first mean's correction
	Correction                 float32 // √ of the second's
	Clip                       float32 // 0 for none
}

const (
	moveThreads = 64
	// moveGroups is the most workgroups that walk over a run of parameters.
	moveGroups = 1024
)

type (
	squaresParams struct{ Size, Offset uint32 }
	lengthParams  struct{ Size uint32 }
)

func moveGrid(size int) wgslkit.Grid {
	return wgslkit.Grid{X: uint32(min(moveGroups, record.CeilDiv(size, moveThreads)))}
}

// Record records the op.
func (o AdamW) Record(r *record.Recorder) {
	v := wgslkit.Variant{"THREADS": moveThreads}
	partials := r.Temp("squares", moveGroups*len(o.Runs))
	if r.Err() != nil {
		return
	}
	n := 0
	for _, run := range o.Runs {
		grid := moveGrid(run.size())
		r.Dispatch(Files, "squares.wgsl", v, wgslkit.Call{
			Label: o.Label + " squares", Params: squaresParams{uint32(run.size()), uint32(n)},
			Bind: record.BindAll(run.Grads, partials), Grid: grid,
		})
		n += int(grid.X)
	}
	r.Dispatch(Files, "length.wgsl", v, wgslkit.Call{Label: o.Label + " length", Params: lengthParams{uint32(n)},
		Bind: record.BindAll(partials, o.Length)})
	for _, run := range o.Runs {
		r.Dispatch(Files, "adamw.wgsl", v, wgslkit.Call{
			Label: o.Label, Params: lengthParams{uint32(run.size())},
			Bind: record.BindAll(o.Settings, o.Length, run.Values, run.Grads, run.First, run.Second),
			Grid: moveGrid(run.size()),
		})
	}
}
