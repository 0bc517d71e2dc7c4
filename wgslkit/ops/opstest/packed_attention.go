package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// packedShape is texts of some lengths, one behind the other.
type packedShape struct {
	heads, kvHeads, headDim int
	lengths                 []int
	window                  int
	ahead                   int // from its second position on, so many positions of each text see each other
	every                   int // only each so many-th position asks
}

var packedShapes = []packedShape{
	{heads: 1, kvHeads: 1, headDim: 2, lengths: []int{1}, every: 1},
	{heads: 2, kvHeads: 1, headDim: 4, lengths: []int{3, 6}, window: 3, every: 1},
	{heads: 4, kvHeads: 2, headDim: 6, lengths: []int{7, 1, 34}, every: 1},
	{heads: 3, kvHeads: 1, headDim: 20, lengths: []int{40, 30}, window: 9, ahead: 12, every: 1},
	{heads: 2, kvHeads: 1, headDim: 150, lengths: []int{5, 38}, window: 36, every: 3},
	{heads: 2, kvHeads: 2, headDim: 300, lengths: []int{35}, every: 1},
}

func (s packedShape) String() string {
	return fmt.Sprintf("%dof%dx%d_%v_window%d_ahead%d_every%d", s.heads, s.kvHeads, s.headDim, s.lengths, s.window,
		s.ahead, s.every)
}

func packedAttentionCases(*ops.Kit) []Case {
	var cases []Case
	for _, form := range []string{"few cores", "many cores"} {
		for _, s := range packedShapes {
			cases = append(cases, Case{Op: "PackedAttention", Name: form + "/" + s.String(), Tolerance: 2e-5,
				Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
					tuned := forms(kit)[form]
					r := newRig(tuned, uint64(s.headDim))
					defer r.close()
					return s.run(r, whole)
				}})
		}
	}
	for _, s := range packedShapes {
		cases = append(cases, Case{Op: "PackedAttention", Name: "parts/" + s.String(), Tolerance: 2e-5,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(s.headDim))
				defer r.close()
				return s.run(r, s.inParts)
			}})
	}
	return cases
}

// packedHeads is attention with heads of so many values, there and back. Its kernels depend
// on nothing else.
type packedHeads int

func (d packedHeads) derived() Case {
	s := packedShape{heads: 2, kvHeads: 1, headDim: int(d), lengths: []int{5, 38}, window: 36, ahead: 3, every: 1}
	return Case{Op: "PackedAttention", Name: "as taken/" + s.String(), Tolerance: 2e-5,
		Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, uint64(d))
			defer r.close()
			inOne, err := s.run(r, whole)
			if err != nil {
				return 0, err
			}
			inParts, err := s.run(r, s.inParts)
			return math.Max(inOne, inParts), err
		}}
}

func (packedHeads) halved() []shape { return nil }

func whole(rec *ops.Recorder, op ops.PackedAttentionBack, _ int) {
	rec.PackedAttention(op.PackedAttention)
	rec.PackedAttentionBack(op)
}

// inParts records the op as for buffers of a tile each.
func (s packedShape) inParts(rec *ops.Recorder, op ops.PackedAttentionBack, rows int) {
	const tile = ops.PackedTile
	of := func(b *wgslkit.Buffer, first, count, row int) *wgslkit.Buffer {
		return b.Part(int64(4*first*row), int64(4*count*row))
	}
	qRow, kRow := s.heads*s.headDim, s.kvHeads*s.headDim
	var keys []ops.PackedAttentionBack
	for first := 0; first < op.Keys; first += tile {
		n, part := min(tile, op.Keys-first), op
		part.K, part.V = of(op.K, first, n, kRow), of(op.V, first, n, kRow)
		part.Part = ops.PackedPart{First: first, Count: n, More: first > 0}
		part.DK, part.DV, part.AddQ, part.Again = nil, nil, first > 0, first > 0
		keys = append(keys, part)
	}
	for _, part := range keys {
		rec.PackedStats(part.PackedAttention)
	}
	for _, part := range keys {
		rec.PackedValues(part.PackedAttention)
	}
	for _, part := range keys {
		rec.PackedAttentionBack(part)
	}
	for i, part := range keys {
		at, n := i*tile, part.Part.Count
		part.DQ, part.Again, part.Keys = nil, true, n
		part.SeenBy, part.DK, part.DV = of(op.SeenBy, at, tile, 2), of(op.DK, at, n, kRow), of(op.DV, at, n, kRow)
		for first := 0; first < rows; first += tile {
			part.Part = ops.PackedPart{First: first, Count: tile}
			part.Q, part.DOut, part.Stats = of(op.Q, first, tile, qRow), of(op.DOut, first, tile, qRow),
				of(op.Stats, first, tile, 2*s.heads)
			part.AddK, part.AddV = op.AddK || first > 0, op.AddV || first > 0
			rec.PackedAttentionBack(part)
		}
	}
}

// visible is what each asking row sees, and who sees each key.
func (s packedShape) visible() (rows [][2]int, seenBy [][2]int) {
	first := 0
	for _, n := range s.lengths {
		for i := range n {
			seenBy = append(seenBy, [2]int{})
			from, to := first, first+i+1
			if s.window > 0 {
				from = max(first, first+i-s.window+1)
			}
			if i >= 1 && i <= s.ahead {
				to = min(first+s.ahead+1, first+n)
			}
			if (first+i)%s.every == 0 {
				rows = append(rows, [2]int{from, to})
			}
		}
		first += n
	}
	for j := range seenBy {
		for i, r := range rows {
			if r[0] <= j && j < r[1] {
				if seenBy[j][1] == 0 {
					seenBy[j][0] = i
				}
				seenBy[j][1] = i + 1
			}
		}
	}
	return rows, seenBy
}

func inTiles(n int) int { return (n + ops.PackedTile - 1) / ops.PackedTile * ops.PackedTile }

func rangeWords(ranges [][2]int) []uint32 {
	words := make([]uint32, 2*inTiles(len(ranges)))
	for i, r := range ranges {
		words[2*i], words[2*i+1] = uint32(r[0]), uint32(r[1])
	}
	return words
}

func (s packedShape) run(r *rig, record func(*ops.Recorder, ops.PackedAttentionBack, int)) (float64, error) {
	const scale = 0.7
	visible, seenBy := s.visible()
	rows, keys := len(visible), len(seenBy)
	qRow, kRow := s.heads*s.headDim, s.kvHeads*s.headDim
	q, k, v, dy := r.normal(rows*qRow), r.normal(keys*kRow), r.normal(keys*kRow), r.normal(rows*qRow)
	before := r.normal(keys * kRow)
	padded := func(values []float64, n, row int) []float64 {
		return append(append([]float64(nil), values...), r.normal((inTiles(n)-n)*row)...)
	}
	op := ops.PackedAttentionBack{
		PackedAttention: ops.PackedAttention{
			Q: r.upload(padded(q, rows, qRow)), K: r.upload(padded(k, keys, kRow)), V: r.upload(padded(v, keys, kRow)),
			Visible: r.words(rangeWords(visible)...), Stats: r.floats(inTiles(rows) * s.heads * 2),
			Out:   r.floats(inTiles(rows) * qRow),
			Heads: s.heads, KVHeads: s.kvHeads, HeadDim: s.headDim, Scale: scale,
		},
		DOut: r.upload(padded(dy, rows, qRow)), SeenBy: r.words(rangeWords(seenBy)...), Keys: keys,
		DQ: r.floats(inTiles(rows) * qRow), DK: r.upload(before), DV: r.floats(keys * kRow), AddK: true,
	}
	r.run(rows, 0, rows, func(rec *ops.Recorder) {
		record(rec, op, rows)
	})
	got := joined(r.read(op.Out, rows*qRow), r.read(op.DQ, rows*qRow), r.read(op.DK, keys*kRow),
		r.read(op.DV, keys*kRow))
	attend := func(q, k, v []float64) []float64 {
		var out []float64
		for t, seen := range visible {
			for h := range s.heads {
				var keys, values [][]float64
				for j := seen[0]; j < seen[1]; j++ {
					at := j*kRow + h/(s.heads/s.kvHeads)*s.headDim
					keys, values = append(keys, k[at:at+s.headDim]), append(values, v[at:at+s.headDim])
				}
				at := t*qRow + h*s.headDim
				out = append(out, softmaxSum(scaled(q[at:at+s.headDim], scale), keys, values)...)
			}
		}
		return out
	}
	want := attend(q, k, v)
	dq, dk, dv := s.back(visible, q, k, v, dy, scale)
	if rows*qRow < 100 {
		// The twin itself against central differences.
		for _, part := range []struct {
			analytic, measured []float64
		}{
			{dq, slopes(func(q []float64) []float64 { return attend(q, k, v) }, q, dy)},
			{dk, slopes(func(k []float64) []float64 { return attend(q, k, v) }, k, dy)},
			{dv, slopes(func(v []float64) []float64 { return attend(q, k, v) }, v, dy)},
		} {
			if off, err := r.compare(part.analytic, part.measured); err != nil || off > 1e-5 && keys > 1 {
				return off, err
			}
		}
	}
	return r.compare(got, joined(want, dq, plus(true, before, dk), dv))
}

// back is the gradients in plain loops.
func (s packedShape) back(visible [][2]int, q, k, v, dy []float64, scale float64) (dq, dk, dv []float64) {
	qRow, kRow := s.heads*s.headDim, s.kvHeads*s.headDim
	dq, dk, dv = make([]float64, len(q)), make([]float64, len(k)), make([]float64, len(v))
	for t, seen := range visible {
		for h := range s.heads {
			at := t*qRow + h*s.headDim
			query, grad := q[at:at+s.headDim], dy[at:at+s.headDim]
			weights, slopes := s.weights(seen, h, query, grad, k, v, scale)
			var mean float64
			for j, w := range weights {
				mean += w * slopes[j]
			}
			for j, w := range weights {
				key := (seen[0]+j)*kRow + h/(s.heads/s.kvHeads)*s.headDim
				ds := w * (slopes[j] - mean) * scale
				for d := range s.headDim {
					dq[at+d] += ds * k[key+d]
					dk[key+d] += ds * query[d]
					dv[key+d] += w * grad[d]
				}
			}
		}
	}
	return dq, dk, dv
}

// weights is softmax(scale·q·k) over what a row sees, and grad·v.
func (s packedShape) weights(seen [2]int, h int, query, grad, k, v []float64,
	scale float64) (weights, slopes []float64) {
	var keys, ones [][]float64
	for j := seen[0]; j < seen[1]; j++ {
		at := j*s.kvHeads*s.headDim + h/(s.heads/s.kvHeads)*s.headDim
		keys = append(keys, k[at:at+s.headDim])
		var slope float64
		for d, g := range grad {
			slope += g * v[at+d]
		}
		slopes = append(slopes, slope)
		one := make([]float64, max(seen[1]-seen[0], s.headDim))
		one[j-seen[0]] = 1
		ones = append(ones, one)
	}
	wide := append(scaled(query, scale), make([]float64, len(ones[0])-len(query))...)
	return softmaxSum(wide, keys, ones)[:len(keys)], slopes
}
