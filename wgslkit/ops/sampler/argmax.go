package sampler

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Argmax finds the id of the largest of N values, of equals the lower id: greedy
// choice with nothing but the choice. The id goes to Out[0], and List[1 + List[0]]
// before List[0] grows by one, so that replays one after another leave a list of
// what they chose. A value's id is its place or, with Groups, that of a value of some
// groups among all: Order[Groups[i / Group]·Group + i mod Group].
type Argmax struct {
	Label  string
	Values *wgslkit.Buffer // [N]
	N      int
	Out    *wgslkit.Buffer // u32, at least one
	List   *wgslkit.Buffer // u32, a count and room for ids; what does not fit is left out
	Groups *wgslkit.Buffer // u32 [N / Group], nil for none
	Group  int             // values of a group
	Order  *wgslkit.Buffer // u32, the ids of all groups' values
}

const (
	argmaxThreads = 64
	// argmaxEach is how many values a thread takes before another workgroup is
	// worth its while.
	argmaxEach = 16
)

type argmaxPartsParams struct{ N, Group, Groups uint32 }

type argmaxParams struct{ Parts uint32 }

// Record records the op, as two dispatches, in a program of width one.
func (o Argmax) Record(r *record.Recorder) {
	mapped := o.Groups != nil
	if o.N < 1 || o.Values.Size() < int64(4*o.N) || mapped &&
		(o.Group < 1 || o.N%o.Group != 0 || o.Groups.Size() < int64(4*(o.N/o.Group))) {
		r.Fail(o.Label, fmt.Errorf("%w: the largest of %d values in groups of %d", wgslkit.ErrValidation, o.N, o.Group))
		return
	}
	parts := min(record.CeilDiv(o.N, argmaxThreads*argmaxEach), argmaxThreads)
	values, ids := r.Temp("argmax values", argmaxThreads), r.Temp("argmax ids", argmaxThreads)
	bind := []*wgslkit.Buffer{o.Values, values, ids}
	if mapped {
		bind = append(bind, o.Groups, o.Order)
	}
	r.Dispatch(Files, "argmax_parts.wgsl", wgslkit.Variant{"THREADS": argmaxThreads, "MAPPED": mapped}, wgslkit.Call{
		Label: o.Label, Bind: record.BindAll(bind...),
		Params: argmaxPartsParams{uint32(o.N), uint32(max(o.Group, 1)), uint32(parts)},
		Grid:   wgslkit.Grid{X: uint32(parts)},
	})
	r.Dispatch(Files, "argmax.wgsl", wgslkit.Variant{"THREADS": argmaxThreads}, wgslkit.Call{
		Label: o.Label, Bind: record.BindAll(values, ids, o.Out, o.List), Params: argmaxParams{uint32(parts)},
		Grid: wgslkit.Grid{X: 1},
	})
}
