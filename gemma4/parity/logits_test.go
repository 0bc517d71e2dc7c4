package parity

import (
	"math/rand/v2"
	"testing"
)

// A position that is wrong shows wherever it is: in the last ones by any logit, in the others by those that are kept.
func TestLogitsOfLongPrompt(t *testing.T) {
	const tokens, vocab, rows, kept = 31, 257, 8, 37 // each seventh
	random := rand.New(rand.NewPCG(1, 2))
	got := make([]float32, tokens*vocab)
	for i := range got {
		got[i] = float32(random.NormFloat64())
	}
	want := logitsOf{last: append([]float32(nil), got[(tokens-rows)*vocab:]...), kept: kept}
	for token := range tokens {
		for column := 0; column < vocab; column += 7 {
			want.columns = append(want.columns, got[token*vocab+column])
		}
	}
	if e := want.off(got, tokens); e != 0 {
		t.Errorf("the same logits are %g off", e)
	}
	for i := range got {
		right := got[i]
		got[i] += 1
		last, known := i >= (tokens-rows)*vocab, i%vocab%7 == 0
		if e := want.off(got, tokens); (e > 0) != (last || known) {
			t.Errorf("position %d, column %d: %g off", i/vocab, i%vocab, e)
		}
		got[i] = right
	}
	if e := want.off(got[vocab:], tokens); e < 1 {
		t.Errorf("without the first position: %g off", e)
	}
	if e := want.off(nil, tokens); e < 1 {
		t.Errorf("without any: %g off", e)
	}
}
