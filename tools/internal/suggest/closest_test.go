package suggest

import (
	"slices"
	"testing"
)

func TestClosest(t *testing.T) {
	words := []string{"run", "chat", "train", "tokenize", "detokenize", "temperature", "top-k", "gemma4:e2b", "nano"}
	tests := []struct {
		typed string
		want  []string
	}{
		{"rnu", []string{"run"}},
		{"trian", []string{"train"}},
		{"temprature", []string{"temperature"}},
		{"temp", []string{"temperature"}},
		{"tokenise", []string{"tokenize"}},
		{"gema4:e2b", []string{"gemma4:e2b"}},
		{"NANO", []string{"nano"}},
		{"xyz", nil},
		{"", nil},
	}
	for _, tt := range tests {
		if got := Closest(tt.typed, words); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.typed, got, tt.want)
		}
	}
}

func TestQuestion(t *testing.T) {
	for want, closest := range map[string][]string{
		"": nil, "; did you mean a?": {"a"}, "; did you mean a or b?": {"a", "b"},
		"; did you mean a, b or c?": {"a", "b", "c"},
	} {
		if got := Question(closest); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
