package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// Largest finds the id of the largest of N values, of equals the lower id: greedy
// choice with nothing but the choice. The id goes to Out[0], and List[1 + List[0]]
// before List[0] grows by one, so that replays one after another leave a list of
// what they chose. A value's id is its place or, with Groups, that of a value of some
// groups among all: Order[Groups[i / Group]·Group + i mod Group].
type Largest struct {
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
	largestThreads = 64
	// largestEach is how many values a thread takes before another workgroup is
	// worth its while.
	largestEach = 16
)

type largestPartsParams struct{ N, Group, Groups uint32 }

type largestParams struct{ Parts uint32 }

// Largest records the op, as two dispatches, in a program of width one.
func (r *Recorder) Largest(o Largest) {
	mapped := o.Groups != nil
	if o.N < 1 || o.Values.Size() < int64(4*o.N) || mapped && (o.Group < 1 || o.N%o.Group != 0 || o.Groups.Size() < int64(4*(o.N/o.Group))) {
		r.fail(o.Label, fmt.Errorf("%w: the largest of %d values in groups of %d", wgslkit.ErrValidation, o.N, o.Group))
		return
	}
	parts := min(ceilDiv(o.N, largestThreads*largestEach), largestThreads)
	values, ids := r.temp("largest values", largestThreads), r.temp("largest ids", largestThreads)
	bind := []*wgslkit.Buffer{o.Values, values, ids}
	if mapped {
		bind = append(bind, o.Groups, o.Order)
	}
	r.dispatch("largest_parts.wgsl", wgslkit.Variant{"THREADS": largestThreads, "MAPPED": mapped}, wgslkit.Call{
		Label: o.Label, Bind: bindAll(bind...), Params: largestPartsParams{uint32(o.N), uint32(max(o.Group, 1)), uint32(parts)},
		Grid: wgslkit.Grid{X: uint32(parts)},
	})
	r.dispatch("largest.wgsl", wgslkit.Variant{"THREADS": largestThreads}, wgslkit.Call{
		Label: o.Label, Bind: bindAll(values, ids, o.Out, o.List), Params: largestParams{uint32(parts)},
		Grid: wgslkit.Grid{X: 1},
	})
}
