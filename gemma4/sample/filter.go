package sample

import (
	"cmp"
	"math"
	"slices"
)

// topNSigma forbids tokens whose logit is too many standard deviations below the largest.
func (s *Sampler) topNSigma(top float32) {
	n := float64(s.params.TopNSigma)
	if n == 0 {
		return
	}
	sum, squares, count := 0.0, 0.0, 0
	for _, l := range s.logits {
		if !math.IsInf(float64(l), -1) {
			sum += float64(l)
			count++
		}
	}
	mean := sum / float64(count)
	for _, l := range s.logits {
		if !math.IsInf(float64(l), -1) {
			squares += (float64(l) - mean) * (float64(l) - mean)
		}
	}
	least := float64(top) - n*math.Sqrt(squares/float64(count))
	for i, l := range s.logits {
		if float64(l) < least {
			s.logits[i] = float32(math.Inf(-1))
		}
	}
}

// filters says whether candidates are looked at in another way than from the top down until
// a sum is reached.
func filters(p Params) bool {
	return p.TypicalP > 0 && p.TypicalP < 1 || p.XtcProbability > 0 || p.DynatempRange > 0
}

// filter leaves in kept what typical-p, top-p, min-p and XTC leave of the candidates, in
// descending order, as probable as the temperature makes them. It returns their sum.
func (s *Sampler) filter(position int) float64 {
	s.kept = s.kept[:0]
	for _, c := range s.candidates {
		if c.p > 0 {
			s.kept = append(s.kept, c)
		}
	}
	s.typical()
	slices.SortFunc(s.kept, descending)
	total := normalize(s.kept)
	reach, sum := topP(s.params)*total, 0.0
	for i, c := range s.kept {
		if sum >= reach || i > 0 && c.p < float64(s.params.MinP)*s.kept[0].p {
			s.kept = s.kept[:i]
			break
		}
		sum += c.p
	}
	s.excludeTop(position)
	s.varyTemperature()
	sum = 0
	for _, c := range s.kept {
		sum += c.p
	}
	return sum
}

func descending(a, b candidate) int {
	if a.before(b) {
		return -1
	}
	return 1
}

// normalize makes probabilities of weights, and returns their sum as it came out.
func normalize(c []candidate) (sum float64) {
	total := 0.0
	for i := range c {
		total += c[i].p
	}
	for i := range c {
		c[i].p /= total
		sum += c[i].p
	}
	return sum
}

// entropy is −Σ p·ln p.
func entropy(c []candidate) (h float64) {
	for i := range c {
		if p := c[i].p; p > 0 {
			h -= p * math.Log(p)
		}
	}
	return h
}

// typical keeps those whose surprise is nearest to the entropy, until their sum exceeds typical-p.
func (s *Sampler) typical() {
	p := float64(s.params.TypicalP)
	if p == 0 || p == 1 {
		return
	}
	normalize(s.kept)
	h := entropy(s.kept)
	slices.SortFunc(s.kept, func(a, b candidate) int {
		if c := cmp.Compare(math.Abs(-math.Log(a.p)-h), math.Abs(-math.Log(b.p)-h)); c != 0 {
			return c
		}
		return descending(a, b)
	})
	sum := 0.0
	for i := range s.kept {
		if sum += s.kept[i].p; sum > p {
			s.kept = s.kept[:i+1]
			return
		}
	}
}

// excludeTop drops, as often as XTC's probability says, all but the last of the tokens that
// reach its threshold.
func (s *Sampler) excludeTop(position int) {
	threshold := float64(cmp.Or(s.params.XtcThreshold, DefaultXtcThreshold))
	if s.params.XtcProbability == 0 || threshold > 0.5 || len(s.kept) < 2 ||
		Uniform(s.params.Seed, xtcPosition|uint32(position)) > s.params.XtcProbability {
		return
	}
	normalize(s.kept)
	n := 0
	for n < len(s.kept) && s.kept[n].p >= threshold {
		n++
	}
	if n > 1 {
		s.kept = slices.Delete(s.kept, 0, n-1)
	}
}

// xtcPosition keeps XTC's random numbers apart from those of the draws: no session is that long.
const xtcPosition = 1 << 31

// varyTemperature applies the temperature to what is left, by how even it is: the range's lower
// end where one token has all the probability, its upper one where all are alike.
func (s *Sampler) varyTemperature() {
	spread := float64(s.params.DynatempRange)
	if spread == 0 || len(s.kept) < 2 {
		return
	}
	normalize(s.kept)
	middle := float64(s.params.Temperature)
	low, high := max(0, middle-spread), middle+spread
	even := entropy(s.kept) / math.Log(float64(len(s.kept)))
	temperature := low + (high-low)*math.Pow(even, float64(cmp.Or(s.params.DynatempExponent, 1)))
	if temperature <= 0 {
		s.kept = s.kept[:1]
		return
	}
	top := s.kept[0].logit
	for i := range s.kept {
		s.kept[i].p = math.Exp(float64(s.kept[i].logit-top) / temperature)
	}
}
