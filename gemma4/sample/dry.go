package sample

import (
	"cmp"
	"math"
	"slices"
)

// Breakers are the token sequences across which DRY sees no repetition, by their first token:
// what comes behind it, nothing for a token alone.
type Breakers map[int32][][]int32

// Add adds a sequence, where it is not there.
func (b Breakers) Add(first int32, tail []int32) {
	if !slices.ContainsFunc(b[first], func(t []int32) bool { return slices.Equal(t, tail) }) {
		b[first] = append(b[first], tail)
	}
}

// breaks says whether a token alone is one.
func (b Breakers) breaks(token int32) bool {
	for _, tail := range b[token] {
		if len(tail) == 0 {
			return true
		}
	}
	return false
}

// SetBreakers says what no repetition goes across, for the choices after it.
func (s *Sampler) SetBreakers(b Breakers) { s.breakers = b }

// maxExponent keeps base^n a finite float32.
func maxExponent(base float64) int {
	const largest = 88.7228391 // ln of the largest float32
	if base <= 1.000001 {
		return math.MaxInt32
	}
	return int(largest / math.Log(base))
}

// dry lowers the logits of tokens that would go on with a repetition of the history's end.
func (s *Sampler) dry(history []int32) {
	base := float64(cmp.Or(s.params.DryBase, DefaultDryBase))
	if !s.params.Dry() || base < 1 {
		return
	}
	if n := s.params.DryPenaltyLastN; n > 0 {
		history = history[len(history)-min(n, len(history)):]
	}
	allowed := cmp.Or(s.params.DryAllowedLength, DefaultDryAllowedLength)
	most := s.unbroken(history)
	if len(history) <= allowed || most < allowed {
		return
	}
	clear(s.counts)
	s.repeats(history, func(token int32, length int) {
		if length = min(length, most); length >= allowed && token >= 0 && int(token) < s.vocab {
			s.counts[token] = max(s.counts[token], length)
		}
	})
	limit := maxExponent(base)
	for token, length := range s.counts {
		if !s.breakers.breaks(token) {
			s.logits[token] -= float32(float64(s.params.DryMultiplier) * math.Pow(base, float64(min(length-allowed, limit))))
		}
	}
}

// unbroken is how many of the last tokens come behind the last sequence breaker.
func (s *Sampler) unbroken(history []int32) int {
	for i := len(history) - 1; i >= 0; i-- {
		longest := -1
		for _, tail := range s.breakers[history[i]] {
			if len(tail) > longest && startsWith(history[i+1:], tail) {
				longest = len(tail)
			}
		}
		if longest >= 0 {
			return len(history) - 1 - i - longest
		}
	}
	return len(history)
}

func startsWith(s, prefix []int32) bool {
	if len(prefix) > len(s) {
		return false
	}
	for i, t := range prefix {
		if s[i] != t {
			return false
		}
	}
	return true
}

// repeats tells of each place before the end whose tokens are also the last ones: what comes
// behind it, and how many are the same. It is the Z-algorithm on the history read backwards, so
// that the time is proportional to its length.
func (s *Sampler) repeats(history []int32, each func(next int32, length int)) {
	n := len(history)
	back := func(i int) int32 { return history[n-1-i] }
	z := append(s.lengths[:0], make([]int32, n)...)
	s.lengths = z
	left, right := 0, 0 // the match that reaches furthest: positions left ≤ i < right
	for k := 1; k < n; k++ {
		length := 0
		if k < right {
			length = min(right-k, int(z[k-left]))
		}
		for k+length < n && back(length) == back(k+length) {
			length++
		}
		if k+length > right {
			left, right = k, k+length
		}
		z[k] = int32(length)
		each(back(k-1), length)
	}
}
