package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

func trainingCases(*ops.Kit) []Case {
	var cases []Case
	for _, size := range []int{2, 37, 1000} {
		for _, softcap := range []float64{0, 3} {
			for _, shares := range []int{1, 7} {
				name := fmt.Sprintf("%d_cap%v_%dshares", size, softcap, shares)
				cases = append(cases, Case{Op: "CrossEntropy", Name: name, Tolerance: 2e-5,
					Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
						r := newRig(kit, uint64(size))
						defer r.close()
						return crossEntropyCase(r, size, softcap, shares)
					}})
			}
		}
	}
	for _, clip := range []float64{0, 0.5} {
		cases = append(cases, Case{Op: "AdamW", Name: fmt.Sprintf("clip%v", clip), Tolerance: 2e-6,
			Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, 3)
				defer r.close()
				return adamwCase(r, clip)
			}})
	}
	return cases
}

// crossEntropyCase has rows of logits in two tiles, and goals of which each row has
// as many as there are, or one fewer.
func crossEntropyCase(r *rig, size int, softcap float64, shares int) (float64, error) {
	const rows, base, weight = 3, 2, 0.125
	capped := func(v float64) float64 {
		if softcap == 0 {
			return v
		}
		return softcap * math.Tanh(v/softcap)
	}
	raw := scaled(r.normal(rows*size), 2)
	words := make([]uint32, 2*shares*(base+rows))
	goals := make([]map[int]float64, base+rows)
	for t := range goals {
		goals[t] = r.goals(size, max(1, shares-t%2), words[2*shares*t:2*shares*(t+1)])
	}
	cuts := []int{0, (size + 1) / 2, size}
	var tiles []*wgslkit.Buffer
	for i, first := range cuts[:2] {
		var tile []float64
		for t := range rows {
			for _, v := range raw[t*size+first : t*size+cuts[i+1]] {
				tile = append(tile, float64(float32(capped(v))))
			}
		}
		tiles = append(tiles, r.upload(tile))
	}
	where, factor, losses, sums := r.words(words...), r.upload([]float64{weight}), r.floats(base+rows), r.floats(3*rows)
	r.run(4, base, rows, func(rec *ops.Recorder) {
		for _, back := range []bool{false, true} {
			for i, tile := range tiles {
				rec.CrossEntropy(ops.CrossEntropy{
					Logits: tile, Goals: where, Sums: sums, Losses: losses, Weight: factor, Cap: float32(softcap),
					Shares: shares,
					First:  cuts[i], Size: cuts[i+1] - cuts[i], Last: i == 1, Back: back,
				})
			}
		}
	})
	lossOf := func(t int) func([]float64) []float64 {
		return func(raw []float64) []float64 {
			var sum, loss float64
			for _, v := range raw {
				sum += math.Exp(capped(v))
			}
			for token, part := range goals[base+t] {
				loss += part * (math.Log(part) + math.Log(sum) - capped(raw[token]))
			}
			return []float64{loss}
		}
	}
	var want, got []float64
	got = r.read(losses, base+rows)[base:]
	for t := range rows {
		want = append(want, lossOf(t)(raw[t*size:(t+1)*size])...)
	}
	for i, first := range cuts[:2] {
		got = append(got, r.read(tiles[i], rows*(cuts[i+1]-first))...)
		for t := range rows {
			want = append(want, slopes(lossOf(t), raw[t*size:(t+1)*size], []float64{weight})[first:cuts[i+1]]...)
		}
	}
	return r.compare(got, want)
}

// goals puts n tokens with their parts into words, and NoRow where there are none.
func (r *rig) goals(size, n int, words []uint32) map[int]float64 {
	parts := map[int]float64{}
	left := 1.0
	for i, token := range r.random.Perm(size)[:min(n, size)] {
		part := left
		if i+1 < min(n, size) {
			part = float64(float32(left * (0.3 + 0.5*r.random.Float64())))
		}
		left -= part
		parts[token] = part
		words[2*i], words[2*i+1] = uint32(token), math.Float32bits(float32(part))
	}
	for i := len(parts); i < len(words)/2; i++ {
		words[2*i] = ops.NoRow
	}
	return parts
}

func adamwCase(r *rig, clip float64) (float64, error) {
	const beta1, beta2, epsilon, keep, rate, correction = 0.9, 0.999, 1e-8, 0.99, 1e-2, 0.3
	var runs []ops.Moved
	var values [][]float64 // of each run: values, gradients, first, second
	var length float64
	for _, n := range []int{5, 700} {
		x, g, m, s := r.normal(n), r.normal(n), scaled(r.normal(n), 0.1), r.weights(n)
		for i := range s {
			s[i] = float64(float32(math.Abs(s[i]) * 0.01))
			length += g[i] * g[i]
		}
		values = append(values, x, g, m, s)
		runs = append(runs, ops.Moved{Values: r.upload(x), Grads: r.upload(g), First: r.upload(m), Second: r.upload(s)})
	}
	length = math.Sqrt(length)
	settings := r.upload([]float64{beta1, 1 - beta1, beta2, 1 - beta2, epsilon, keep, rate, correction, clip})
	found := r.floats(1)
	r.run(1, 0, 1, func(rec *ops.Recorder) {
		rec.AdamW(ops.AdamW{Runs: runs, Settings: settings, Length: found})
	})
	got, want := r.read(found, 1), []float64{length}
	factor := 1.0
	if clip > 0 {
		factor = min(1, clip/length)
	}
	for i, run := range runs {
		x, g, m, s := values[4*i], values[4*i+1], values[4*i+2], values[4*i+3]
		for j := range x {
			g := g[j] * factor
			m[j], s[j] = beta1*m[j]+(1-beta1)*g, beta2*s[j]+(1-beta2)*g*g
			x[j] = keep*x[j] - rate*m[j]/(math.Sqrt(s[j])/correction+epsilon)
		}
		got = append(got, joined(r.read(run.Values, len(x)), r.read(run.Grads, len(x)), r.read(run.First, len(x)),
			r.read(run.Second, len(x)))...)
		want = append(want, joined(x, make([]float64, len(x)), m, s)...)
	}
	return r.compare(got, want)
}
