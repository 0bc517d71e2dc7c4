package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// elementBackCases are the ways back of what works on a token's values alone, each
// against central differences of its forward pass.
func elementBackCases(*ops.Kit) []Case {
	var cases []Case
	add := func(op, name string, tolerance float64, seed int, run func(*rig) (float64, error)) {
		cases = append(cases, Case{Op: op, Name: name, Tolerance: tolerance,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(seed))
				defer r.close()
				return run(r)
			}})
	}
	for _, s := range []normShape{{1, 1, 1, 3, true}, {3, 2, 1, 65, true}, {3, 3, 5, 12, false}, {2, 2, 2, 40, true}} {
		for _, more := range []bool{false, true} {
			add("RMSNormBack", fmt.Sprintf("%v_add=%t", s, more), 1e-5, s.size,
				func(r *rig) (float64, error) { return normBackCase(r, s, more) })
		}
	}
	for _, s := range []struct{ heads, headDim, rotated int }{{1, 2, 2}, {3, 10, 10}, {2, 64, 32}} {
		for _, more := range []bool{false, true} {
			add("Rotate", fmt.Sprintf("%v_add=%t", s, more), 2e-6, s.headDim,
				func(r *rig) (float64, error) { return rotateCase(r, s.heads, s.headDim, s.rotated, more) })
		}
	}
	for _, paired := range []bool{false, true} {
		for _, more := range []bool{false, true} {
			add("Gate", fmt.Sprintf("paired=%t_add=%t", paired, more), 1e-5, 7,
				func(r *rig) (float64, error) { return gateCase(r, 35, paired, more) })
		}
	}
	for _, more := range []bool{false, true} {
		add("Combine", fmt.Sprintf("67_add=%t", more), 1e-6, 8,
			func(r *rig) (float64, error) { return combineCase(r, more) })
	}
	add("PickRows", "67", 1e-6, 9, pickRowsCase)
	return cases
}

func normBackCase(r *rig, s normShape, add bool) (float64, error) {
	const offset, slack, scale = 2, 5, 0.5
	row := s.groups * s.size
	stride := row + slack
	x, dy, before := r.normal(offset+s.width*stride), r.normal(s.width*row), r.normal(offset+s.width*stride)
	w, wBuffer := r.weight(s.weighted, s.size)
	xBuffer, dyBuffer, dx := r.upload(x), r.upload(dy), r.upload(before)
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		at := func(b ops.Slice) ops.Slice { b.Offset, b.Stride = offset, stride; return b }
		rec.RMSNormBack(ops.RMSNormBack{
			X: at(ops.All(xBuffer)), DX: at(ops.All(dx)), DY: dyBuffer, Weight: wBuffer, Groups: s.groups, Size: s.size,
			Eps: normEps, Scale: scale, Add: add,
		})
	})
	got := r.read(dx, len(before))
	want := append([]float64(nil), before...)
	for t := range s.tokens {
		for g := range s.groups {
			at, from := offset+t*stride+g*s.size, t*row+g*s.size
			back := slopes(func(x []float64) []float64 { return rms(x, w, normEps) }, x[at:at+s.size],
				scaled(dy[from:from+s.size], scale))
			copy(want[at:], plus(add, before[at:at+s.size], back))
		}
	}
	return r.compare(got, want)
}

func rotateCase(r *rig, heads, headDim, rotated int, add bool) (float64, error) {
	const width, theta = 3, 50
	size := heads * headDim
	x, before := r.normal(width*size), r.normal(width*size)
	positions := []uint32{0, 5, 100000}
	rope, err := r.kit.NewRope("case", theta, rotated, nil)
	r.keep(err)
	r.release = append(r.release, rope.Release)
	xBuffer, y, back, where := r.upload(x), r.floats(len(x)), r.upload(before), r.words(positions...)
	op := ops.Rotate{X: xBuffer, Y: y, Positions: where, Rope: rope, Heads: heads, HeadDim: headDim}
	r.run(width, 0, width, func(rec *ops.Recorder) {
		rec.Rotate(op)
		op.Y, op.Back, op.Add = back, true, add
		rec.Rotate(op)
	})
	var forward, behind []float64
	for t, position := range positions {
		for h := range heads {
			at := t*size + h*headDim
			turn := func(x []float64) []float64 { return turnedBy(x, rotated, theta, float64(position)) }
			forward = append(forward, turn(x[at:at+headDim])...)
			// What a turn hands back is a turn by the opposite angle.
			behind = append(behind, slopes(turn, r.normal(headDim), x[at:at+headDim])...)
		}
	}
	return r.compare(joined(r.read(y, len(x)), r.read(back, len(x))), joined(forward, plus(add, before, behind)))
}

func turnedBy(x []float64, rotated int, theta, position float64) []float64 {
	y := append([]float64(nil), x...)
	for n := range rotated / 2 {
		sin, cos := math.Sincos(position * math.Pow(theta, -2*float64(n)/float64(rotated)))
		a, b := x[n], x[n+rotated/2]
		y[n], y[n+rotated/2] = a*cos-b*sin, b*cos+a*sin
	}
	return y
}

// gateCase adds to what is there for both, or for neither.
func gateCase(r *rig, size int, paired, add bool) (float64, error) {
	const width = 2
	both := scaled(r.normal(width*2*size), 2)
	dy, before := r.normal(width*size), r.normal(width*2*size)
	xBuffer, dyBuffer, out, back := r.upload(both), r.upload(dy), r.floats(width*size), r.upload(before)
	gate := ops.Lattice{Bind: xBuffer.All(), Row: 2 * size, Column: 1}
	up := gate
	up.Offset = size
	if paired {
		gate.Column, up.Column, up.Offset = 2, 2, 1
	}
	into := func(l ops.Lattice) ops.Lattice { l.Bind = back.All(); return l }
	r.run(width, 0, width, func(rec *ops.Recorder) {
		rec.Gate(ops.Gate{Gate: gate, Up: up, Out: ops.Rows(out, size), Size: size})
		rec.GateBack(ops.GateBack{Gate: gate, Up: up, Out: into(gate), DY: dyBuffer, Size: size, Add: add})
		rec.GateBack(ops.GateBack{Gate: gate, Up: up, Out: into(up), DY: dyBuffer, Size: size, OfUp: true, Add: add})
	})
	product := func(x []float64) []float64 {
		y := make([]float64, width*size)
		for i := range y {
			at := i / size * 2 * size
			g, u := at+i%size*gate.Column, at+up.Offset+i%size*up.Column
			y[i] = activate(ops.GELU, x[g]) * x[u]
		}
		return y
	}
	want := plus(add, before, slopes(product, both, dy))
	return r.compare(joined(r.read(out, width*size), r.read(back, len(both))), joined(product(both), want))
}

// combineCase is the sum of two and a multiple of one, and columns of wider rows there and
// back, all on top of what is there or none.
func combineCase(r *rig, add bool) (float64, error) {
	const width, size, scale = 3, 67, 0.25
	a, b := r.normal(width*size), r.normal(width*size)
	aBuffer, bBuffer, sum, more := r.upload(a), r.upload(b), r.upload(b), r.upload(a)
	r.run(width, 0, width, func(rec *ops.Recorder) {
		rec.Combine(ops.Combine{A: aBuffer, B: bBuffer, Out: sum, Size: size, Scale: scale, Accumulate: add})
		rec.Combine(ops.Combine{A: bBuffer, Out: more, Size: size, Scale: scale, Accumulate: add})
	})
	got := joined(r.read(sum, len(a)), r.read(more, len(a)))
	want := joined(plus(add, b, scaled(plus(true, a, b), scale)), plus(add, a, scaled(b, scale)))
	const wide, left = size + 6, 5
	from, into := r.normal(width*wide), r.normal(width*wide)
	fromBuffer, narrow, intoBuffer := r.upload(from), r.upload(a), r.upload(into)
	columns := ops.Columns{Row: wide, Offset: left}
	r.run(width, 0, width, func(rec *ops.Recorder) {
		rec.Combine(ops.Combine{A: fromBuffer, ARows: columns, Out: narrow, Size: size, Accumulate: add})
		rec.Combine(ops.Combine{A: aBuffer, Out: intoBuffer, OutRows: columns, Size: size, Accumulate: add})
	})
	taken := make([]float64, width*size)
	for i := range taken {
		at := i/size*wide + left + i%size
		taken[i] = from[at]
		into[at] = plus(add, into[at:at+1], a[i:i+1])[0]
	}
	return r.compare(joined(got, joined(r.read(narrow, len(a)), r.read(intoBuffer, len(into)))),
		joined(want, joined(plus(add, a, taken), into)))
}

func pickRowsCase(r *rig) (float64, error) {
	const rows, size = 9, 67
	x, other := r.normal(rows*size), r.normal(rows*size)
	some, where := []uint32{7, 7, 3, ops.NoRow, 8}, []uint32{7, 7, 3, 0, 8}
	xBuffer, out, back := r.upload(x), r.floats(3*size), r.upload(other)
	const lower = 5 // rows of the first of two buffers
	halves := [2]*wgslkit.Buffer{r.upload(x[:lower*size]), r.upload(x[lower*size:])}
	ofTwo, backInto := r.floats(3*size), r.upload(other[lower*size:])
	someBuffer, whereBuffer := r.words(some...), r.words(where...)
	r.run(4, 2, 3, func(rec *ops.Recorder) {
		rec.PickRows(ops.PickRows{Rows: someBuffer, X: xBuffer, Out: out, Size: size})
		rec.PickRows(ops.PickRows{Rows: whereBuffer, X: xBuffer, Out: back, Size: size, Back: true})
		rec.PickRows(ops.PickRows{Rows: someBuffer, X: halves[0], Out: ofTwo, Size: size, Count: lower})
		rec.PickRows(ops.PickRows{Rows: someBuffer, X: halves[1], Out: ofTwo, Size: size, First: lower,
			Count: rows - lower, Keep: true})
		rec.PickRows(ops.PickRows{Rows: whereBuffer, X: xBuffer, Out: backInto, Size: size, Back: true, First: lower,
			Count: rows - lower})
	})
	picked, want := make([]float64, 3*size), append([]float64(nil), other...)
	for i, row := range where[2:] {
		if some[2+i] != ops.NoRow {
			copy(picked[i*size:], x[row*size:(row+1)*size])
		}
		copy(want[row*size:], x[i*size:(i+1)*size])
	}
	got := joined(r.read(out, len(picked)), r.read(ofTwo, len(picked)), r.read(back, len(want)),
		r.read(backInto, (rows-lower)*size))
	return r.compare(got, joined(picked, picked, want, want[lower*size:]))
}
