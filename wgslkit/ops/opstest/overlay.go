package opstest

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

// overlayShape is width tokens of size values, of which tokens are computed.
type overlayShape struct{ width, tokens, size int }

func overlayCases(*ops.Kit) []Case {
	var cases []Case
	for _, s := range []overlayShape{{1, 1, 1}, {1, 1, 300}, {5, 3, 64}, {40, 40, 257}} {
		name := fmt.Sprintf("%dof%d_%d", s.tokens, s.width, s.size)
		cases = append(cases, Case{Op: "Overlay", Name: name,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(s.size))
				defer r.close()
				return s.run(r)
			}})
	}
	return cases
}

func (s overlayShape) run(r *rig) (float64, error) {
	rows, want := r.normal(s.width*s.size), r.normal(s.width*s.size)
	out := r.upload(want)
	marks := make([]uint32, s.width)
	for t := range marks {
		marks[t] = uint32(t+1) % 3
		if t < s.tokens && marks[t] != 0 {
			copy(want[t*s.size:(t+1)*s.size], rows[t*s.size:])
		}
	}
	op := ops.Overlay{Label: "case", Marks: r.words(marks...), Rows: r.upload(rows), Out: out, Size: s.size}
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) { rec.Overlay(op) })
	return r.compare(r.read(out, len(want)), want)
}
