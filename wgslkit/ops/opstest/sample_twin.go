package opstest

import (
	"cmp"
	"math"
	"slices"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

// ranked is a token with its logit and its probability, not normalised.
type ranked struct {
	token int32
	logit float32
	p     float64
}

// descending sorts by logit, of equals the lower token first.
func descending(r []ranked) {
	slices.SortFunc(r, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.token, b.token))
	})
}

// sampleTwin is one choice as ops.Sample states it, in float64 and by sorting
// everything.
type sampleTwin struct {
	params  ops.SampleParams
	logits  []float32
	history []int32
	mask    []uint32 // nil for all tokens
}

// penalized is the logits after penalties, bias and mask.
func (s sampleTwin) penalized() []float32 {
	out := slices.Clone(s.logits)
	repetition := cmp.Or(s.params.RepetitionPenalty, 1)
	for token, count := range s.seen() {
		if out[token] > 0 {
			out[token] /= repetition
		} else {
			out[token] *= repetition
		}
		out[token] = out[token] - s.params.PresencePenalty - s.params.FrequencyPenalty*float32(count)
	}
	for token, bias := range s.params.LogitBias {
		out[token] += bias
	}
	if s.mask != nil {
		for token := range out {
			if s.mask[token/32]>>(token%32)&1 == 0 {
				out[token] = float32(math.Inf(-1))
			}
		}
	}
	return out
}

func (s sampleTwin) seen() map[int32]int {
	n := cmp.Or(s.params.RepeatLastN, ops.DefaultRepeatLastN)
	if n < 0 || n > len(s.history) {
		n = len(s.history)
	}
	counts := map[int32]int{}
	for _, token := range s.history[len(s.history)-n:] {
		if token >= 0 && int(token) < len(s.logits) {
			counts[token]++
		}
	}
	return counts
}

// order is every token that is possible, in descending order, and how many of
// them top-k, top-p and min-p keep.
func (s sampleTwin) order() (all []ranked, kept int) {
	for token, l := range s.penalized() {
		if !math.IsInf(float64(l), -1) {
			all = append(all, ranked{token: int32(token), logit: l})
		}
	}
	descending(all)
	for i := range all {
		all[i].p = math.Exp((float64(all[i].logit) - float64(all[0].logit)) / float64(s.params.Temperature))
	}
	kept = len(all)
	if s.params.TopK > 0 {
		kept = min(kept, s.params.TopK)
	}
	if s.params.TopP > 0 && s.params.TopP < 1 {
		target := float64(s.params.TopP) * mass(all[:kept])
		var sum float64
		for i := range kept {
			if sum += all[i].p; sum >= target {
				kept = i + 1
				break
			}
		}
	}
	for kept > 1 && all[kept-1].p < float64(s.params.MinP) {
		kept--
	}
	return all, kept
}

func mass(r []ranked) (sum float64) {
	for _, t := range r {
		sum += t.p
	}
	return sum
}

// miss is how far a token is from the one to choose, as the part of what is
// kept by which the random number would have to move: 0 for the right token.
func (s sampleTwin) miss(token int32) float64 {
	if s.params.Temperature == 0 {
		return s.missGreedy(token)
	}
	all, kept := s.order()
	sum := mass(all[:kept])
	target := uniform(s.params.Seed, uint32(len(s.history))) * sum
	var before float64
	for _, t := range all {
		if t.token == token {
			return max(0, before-target, target-before-t.p) / sum
		}
		before += t.p
	}
	return 1 // a forbidden token
}

func (s sampleTwin) missGreedy(token int32) float64 {
	logits, best := s.penalized(), 0
	for i, l := range logits {
		if l > logits[best] {
			best = i
		}
	}
	return math.Abs(float64(logits[best])-float64(logits[token])) + min(math.Abs(float64(best)-float64(token)), 1)
}

// missLogProbs is the largest error of the log-probabilities in a result.
func (s sampleTwin) missLogProbs(r ops.SampleResult) float64 {
	n := min(s.params.LogProbs, len(s.logits))
	if len(r.Top) != n {
		return math.Inf(1)
	}
	if n == 0 {
		return 0
	}
	all := make([]ranked, len(s.logits))
	var sum float64
	for i, l := range s.logits {
		all[i] = ranked{token: int32(i), logit: l}
		sum += math.Exp(float64(l))
	}
	descending(all)
	norm := math.Log(sum)
	worst := difference(float64(s.logits[r.Token])-norm, float64(r.LogProb))
	for i, top := range r.Top {
		if top.Token != all[i].token {
			return math.Inf(1)
		}
		worst = max(worst, difference(float64(all[i].logit)-norm, float64(top.LogProb)))
	}
	return worst
}

// difference is relative above 1, and 0 between equal infinities.
func difference(want, got float64) float64 {
	if want == got {
		return 0
	}
	return math.Abs(want-got) / max(1, math.Abs(want))
}

// uniform is the random number of sample_random.wgsl.
func uniform(seed uint64, position uint32) float64 {
	mix := func(x uint32) uint32 {
		x ^= x >> 16
		x *= 0x21f0aaad
		x ^= x >> 15
		x *= 0x735a2d97
		return x ^ x>>15
	}
	h := mix(uint32(seed) + 0x9e3779b9)
	h = mix(uint32(seed>>32) + h)
	return float64(mix(position+h)>>8) / (1 << 24)
}
