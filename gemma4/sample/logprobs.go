package sample

import (
	"cmp"
	"math"
	"slices"
)

// LogProbs returns the natural log-probability of a token under the softmax of
// the logits, and the n most probable tokens, best first, of equals the lower id.
func LogProbs(logits []float32, token int32, n int) (float32, []LogProb) {
	norm := logSumExp(logits)
	candidates := make([]candidate, len(logits))
	for i, l := range logits {
		candidates[i] = candidate{token: int32(i), logit: l}
	}
	if n < len(candidates) {
		candidates = largest(candidates, n)
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.token, b.token))
	})
	top := make([]LogProb, len(candidates))
	for i, c := range candidates {
		top[i] = LogProb{c.token, float32(float64(c.logit) - norm)}
	}
	return float32(float64(logits[token]) - norm), top
}

// logSumExp is ln Σ exp(l), with the largest taken out against overflow.
func logSumExp(logits []float32) float64 {
	top := float64(logits[argmax(logits)])
	var sum float64
	for _, l := range logits {
		sum += math.Exp(float64(l) - top)
	}
	return top + math.Log(sum)
}
