package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

func halfRowsCases(*ops.Kit) []Case {
	var cases []Case
	for _, size := range []int{1, 31, 258, 1000} {
		for _, scale := range []float64{1e-9, 1, 1e7} {
			// What is left of a value is half a unit of an 11-bit number, at the row's largest.
			cases = append(cases, Case{Op: "HalfRows", Name: fmt.Sprintf("%d_%g", size, scale), Tolerance: 1.0 / 2048,
				Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
					r := newRig(kit, uint64(size))
					defer r.close()
					return halfRowsCase(r, size, scale)
				}})
		}
	}
	return cases
}

// halfRowsCase stores rows of very different sizes, one of them zeros, and reads them.
func halfRowsCase(r *rig, size int, scale float64) (float64, error) {
	const rows = 4
	x := r.normal(rows * size)
	for i := range x {
		x[i] = float64(float32(x[i] * scale * math.Pow(10, float64(i/size)) * float64(min(i/size, 1))))
	}
	from, words, back := r.upload(x), r.floats(rows*ops.HalfWords(size)), r.floats(rows*size)
	r.run(rows, 0, rows, func(rec *ops.Recorder) {
		rec.HalfRows(ops.HalfRows{X: from, Words: words, Size: size})
		rec.HalfRows(ops.HalfRows{X: back, Words: words, Size: size, Back: true})
	})
	got := r.read(back, rows*size)
	var worst float64
	for t := range rows { // each row by its own size
		off, err := r.compare(got[t*size:(t+1)*size], x[t*size:(t+1)*size])
		if err != nil {
			return 0, err
		}
		worst = max(worst, off)
	}
	return worst, nil
}
