// Package suggest finds what somebody may have meant who mistyped a word.
package suggest

import (
	"slices"
	"strings"
)

// most is how many words are suggested.
const most = 3

// Closest returns those of the words that are most like the typed one, the nearest
// first: those within a third of its letters, at least two, and those that it begins.
func Closest(typed string, words []string) []string {
	type candidate struct {
		word     string
		distance int
	}
	typed = strings.ToLower(typed)
	limit := min(max(2, len(typed)/3), 4)
	var closest []candidate
	for _, word := range words {
		lower := strings.ToLower(word)
		d := distance(typed, lower)
		begins := len(typed) >= 3 && strings.HasPrefix(lower, typed)
		if (d <= limit && d < len(typed)) || begins {
			closest = append(closest, candidate{word, d})
		}
	}
	slices.SortStableFunc(closest, func(a, b candidate) int { return a.distance - b.distance })
	var found []string
	for _, c := range closest {
		if len(found) < most && !slices.Contains(found, c.word) {
			found = append(found, c.word)
		}
	}
	return found
}

// Question is "; did you mean a or b?" for what Closest found; nothing without any.
func Question(closest []string) string {
	if len(closest) == 0 {
		return ""
	}
	list := closest[len(closest)-1]
	if len(closest) > 1 {
		list = strings.Join(closest[:len(closest)-1], ", ") + " or " + list
	}
	return "; did you mean " + list + "?"
}

// distance counts the bytes to insert, remove, replace or swap with their neighbour
// between a and b (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
