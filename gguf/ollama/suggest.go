package ollama

import (
	"slices"
	"strings"
)

// maxSuggestions is how many names an error suggests.
const maxSuggestions = 5

// suggestions returns the names that are most like the one that was not found.
func suggestions(want Name, have []Name) []string {
	type candidate struct {
		name     string
		distance int
	}
	var close []candidate
	for _, n := range have {
		d := editDistance(strings.ToLower(want.String()), strings.ToLower(n.String()))
		if n.Model == want.Model || d <= 3 {
			close = append(close, candidate{n.String(), d})
		}
	}
	slices.SortStableFunc(close, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range close[:min(maxSuggestions, len(close))] {
		names = append(names, c.name)
	}
	return names
}

// editDistance counts the bytes to insert, remove or replace between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
