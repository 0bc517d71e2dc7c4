package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

type routerShape struct {
	width, tokens, experts, k int
	scaled, ties              bool
}

var routerShapes = []routerShape{
	{1, 1, 1, 1, false, false}, {1, 1, 128, 8, true, false}, {1, 1, 4, 4, true, false},
	{7, 5, 31, 3, false, false}, {3, 3, 257, 8, true, true}, {2, 2, 6, 2, true, true},
}

func routerCases(*ops.Kit) []Case {
	var cases []Case
	for _, s := range routerShapes {
		cases = append(cases, s.toCase())
	}
	return cases
}

func (s routerShape) toCase() Case {
	name := fmt.Sprintf("%dof%d_top%dof%d_scaled=%t_ties=%t", s.tokens, s.width, s.k, s.experts, s.scaled, s.ties)
	return Case{Op: "Router", Name: name, Tolerance: 2e-6,
		Run: func(_ context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, uint64(s.experts))
			defer r.close()
			return routerCase(r, s)
		}}
}

func routerCase(r *rig, s routerShape) (float64, error) {
	logits := scaled(r.normal(s.width*s.experts), 3)
	if s.ties {
		for i := range logits {
			logits[i] = math.Round(logits[i] / 3)
		}
	}
	for i := range logits {
		logits[i] = float64(float32(logits[i]))
	}
	scale, scaleBuffer := r.weight(s.scaled, s.experts)
	logitsBuffer := r.upload(logits)
	ids, weights := r.words(make([]uint32, s.width*s.k)...), r.floats(s.width*s.k)
	r.run(s.width, 0, s.tokens, func(rec *ops.Recorder) {
		rec.Router(ops.Router{Logits: logitsBuffer, Experts: s.experts, K: s.k, Scale: scaleBuffer, IDs: ids,
			Weights: weights})
	})
	gotIDs := r.readWords(ids, s.tokens*s.k)
	var want []float64
	for t := range s.tokens {
		wantIDs, w := route(logits[t*s.experts:(t+1)*s.experts], scale, s.k)
		for k, id := range wantIDs {
			if got := gotIDs[t*s.k+k]; r.err == nil && int(got) != id {
				return 0, fmt.Errorf("token %d: choice %d is expert %d, want %d", t, k, got, id)
			}
		}
		want = append(want, w...)
	}
	return r.compare(r.read(weights, s.tokens*s.k), want)
}

// route is the softmax over all logits, its k largest, renormalised and scaled.
func route(logits, scale []float64, k int) (ids []int, weights []float64) {
	p := make([]float64, len(logits))
	for i, v := range logits {
		p[i] = math.Exp(v)
	}
	var sum float64
	for range k {
		best := -1
		for i, v := range p {
			if v > 0 && (best < 0 || v > p[best]) {
				best = i
			}
		}
		ids, weights = append(ids, best), append(weights, p[best])
		sum += p[best]
		p[best] = 0
	}
	for i, id := range ids {
		weights[i] /= sum
		if scale != nil {
			weights[i] *= scale[id]
		}
	}
	return ids, weights
}
