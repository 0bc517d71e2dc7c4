package opstest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

type argmaxShape struct {
	n, group, groups int // groups of all; 0 for none
	ties             bool
}

var argmaxShapes = []argmaxShape{{1, 0, 0, false}, {65, 0, 0, true}, {2048, 0, 0, false}, {150001, 0, 0, true},
	{96, 24, 9, false}, {4096, 128, 64, true}}

func argmaxCases(*ops.Kit) []Case {
	var cases []Case
	for _, s := range argmaxShapes {
		name := fmt.Sprintf("%d_groups=%dof%d_ties=%t", s.n, s.group, s.groups, s.ties)
		cases = append(cases, Case{Op: "Argmax", Name: name,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(s.n))
				defer r.close()
				return 0, argmaxCase(r, s)
			}})
	}
	return cases
}

// argmaxCase replays the op over two lots of values: each has to be found, and listed.
func argmaxCase(r *rig, s argmaxShape) error {
	ids, groups, order := []uint32(nil), []uint32{0}, []uint32{0}
	for i := range s.n {
		ids = append(ids, uint32(i))
	}
	if s.groups > 0 {
		groups, order, ids = nil, nil, nil
		for _, g := range r.random.Perm(s.groups)[:s.n/s.group] {
			groups = append(groups, uint32(g))
		}
		for _, id := range r.random.Perm(s.groups * s.group) {
			order = append(order, uint32(id))
		}
		for i := range s.n {
			ids = append(ids, order[int(groups[i/s.group])*s.group+i%s.group])
		}
	}
	o := ops.Argmax{N: s.n, Group: s.group, Out: r.words(7), List: r.words(0, 7, 7)}
	if s.groups > 0 {
		o.Groups, o.Order = r.words(groups...), r.words(order...)
	}
	want := []uint32{0}
	for range 3 { // the list has no room for the third
		values := scaled(r.normal(s.n), 3)
		for i := range values {
			values[i] = float64(float32(values[i]))
			if s.ties {
				values[i] = math.Round(values[i] / 4)
			}
		}
		o.Values = r.upload(values)
		r.run(1, 5, 1, func(rec *ops.Recorder) { rec.Argmax(o) })
		best := 0
		for i, v := range values {
			if v > values[best] || v == values[best] && ids[i] < ids[best] {
				best = i
			}
		}
		want = append(want, ids[best])
		want[0]++
		if got := r.readWords(o.Out, 1); r.err == nil && got[0] != ids[best] {
			return fmt.Errorf("found %d, want %d", got[0], ids[best])
		}
	}
	if got := r.readWords(o.List, 3); r.err == nil && !slices.Equal(got, want[:3]) {
		return fmt.Errorf("listed %v, want %v", got, want[:3])
	}
	return r.err
}
