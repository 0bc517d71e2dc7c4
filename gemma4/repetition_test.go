package gemma4

import (
	"math/rand/v2"
	"testing"
)

// After how many tokens a repetition is found, worked out by hand.
func TestRepetitionIsFound(t *testing.T) {
	count := func(n, period int) (tokens []int32) {
		for i := range n {
			tokens = append(tokens, int32(i%period))
		}
		return tokens
	}
	random := rand.New(rand.NewPCG(1, 1))
	var noise []int32
	for range 5000 {
		noise = append(noise, random.Int32N(50))
	}
	for _, tc := range []struct {
		name   string
		most   int
		tokens []int32
		at     int // −1 for never
	}{
		{"one token", 20, count(100, 1), 19},
		{"a piece of five", 20, count(100, 5), 19},
		{"a piece that is too long to come four times", 20, count(100, 6), -1},
		{"behind something else", 20, append(append([]int32{7, 8, 9}, noise[:50]...), count(100, 3)...), 72},
		{"it stops in time", 20, append(count(19, 2), 9, 8, 7, 6), -1},
		{"noise", 20, noise, -1},
		{"no guard", 0, count(1000, 1), -1},
		{"a piece of 500", 2000, count(3000, 500), 1999},
		{"the longest piece", 8192, count(10000, 513), -1},
	} {
		r, at := repetition{most: tc.most}, -1
		for i, token := range tc.tokens {
			if r.push(token) {
				at = i
				break
			}
		}
		if at != tc.at {
			t.Errorf("%s: found at %d, want %d", tc.name, at, tc.at)
		}
	}
}
