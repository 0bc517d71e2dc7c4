package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

func trainingCases(*ops.Kit) []Case {
	var cases []Case
	for _, size := range []int{2, 37, 1000} {
		for _, softcap := range []float64{0, 3} {
			cases = append(cases, Case{Op: "CrossEntropy", Name: fmt.Sprintf("%d_cap%v", size, softcap), Tolerance: 2e-5, Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(size))
				defer r.close()
				return crossEntropyCase(r, size, softcap)
			}})
		}
	}
	for _, clip := range []float64{0, 0.5} {
		cases = append(cases, Case{Op: "AdamW", Name: fmt.Sprintf("clip%v", clip), Tolerance: 2e-6, Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, 3)
			defer r.close()
			return adamwCase(r, clip)
		}})
	}
	return cases
}

func crossEntropyCase(r *rig, size int, softcap float64) (float64, error) {
	const rows, base, weight = 3, 2, 0.125
	raw := scaled(r.normal(rows*size), 2)
	capped := append([]float64(nil), raw...)
	if softcap != 0 {
		for i, v := range raw {
			capped[i] = float64(float32(softcap * math.Tanh(v/softcap)))
		}
	}
	targets := make([]uint32, base+rows)
	for i := range targets {
		targets[i] = uint32(r.random.IntN(size))
	}
	logits, losses := r.upload(capped), r.floats(base+rows)
	where, factor := r.words(targets...), r.upload([]float64{weight})
	r.run(4, base, rows, func(rec *ops.Recorder) {
		rec.CrossEntropy(ops.CrossEntropy{Logits: logits, Targets: where, Losses: losses, Weight: factor, Size: size, Cap: float32(softcap), Back: true})
	})
	lossOf := func(t int) func([]float64) []float64 {
		return func(raw []float64) []float64 {
			var sum float64
			capped := func(v float64) float64 {
				if softcap == 0 {
					return v
				}
				return softcap * math.Tanh(v/softcap)
			}
			for _, v := range raw {
				sum += math.Exp(capped(v))
			}
			return []float64{math.Log(sum) - capped(raw[targets[base+t]])}
		}
	}
	var want, back []float64
	for t := range rows {
		row := raw[t*size : (t+1)*size]
		want = append(want, lossOf(t)(row)...)
		back = append(back, slopes(lossOf(t), row, []float64{weight})...)
	}
	return r.compare(joined(r.read(losses, base+rows)[base:], r.read(logits, len(raw))), joined(want, back))
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
		got = append(got, joined(r.read(run.Values, len(x)), r.read(run.Grads, len(x)), r.read(run.First, len(x)), r.read(run.Second, len(x)))...)
		want = append(want, joined(x, make([]float64, len(x)), m, s)...)
	}
	return r.compare(got, want)
}
