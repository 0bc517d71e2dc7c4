package gemma4

import (
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
)

func nanoTokenizer(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	file, err := gguf.OpenPath(t.Context(), "../testdata/conformance/nano/nano.gguf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	tok, err := tokenizer.FromGGUF(file.Meta)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// Every way in which a text's tokens may hold a breaker is found: spelt as the tokenizer
// does, and within longer tokens.
func TestBreakersAreFound(t *testing.T) {
	tok := nanoTokenizer(t)
	ends := func(found sample.Breakers, text string) bool {
		ids := int32s(tok.Encode(text))
		for i, id := range ids {
			for _, tail := range found[id] {
				if slices.Equal(tail, ids[i+1:min(i+1+len(tail), len(ids))]) {
					return true
				}
			}
		}
		return false
	}
	found := findBreakers(tok, []string{"\n", ":", "said the"})
	for _, text := range []string{"\n", "one:", "a line\nanother", "as said the man", "\n\n"} {
		if !ends(found, text) {
			t.Errorf("no breaker is found in %q", text)
		}
	}
	for _, text := range []string{"one two three", "said that", "a, b; c"} {
		if ends(found, text) {
			t.Errorf("a breaker is found in %q", text)
		}
	}
	var b breakers
	first := b.of(tok, []string{":"})
	if again := b.of(tok, []string{":"}); len(first) == 0 || len(again) != len(first) {
		t.Errorf("%d tokens, then %d", len(first), len(again))
	}
	if len(findBreakers(tok, nil)) != 0 {
		t.Error("breakers out of nothing")
	}
}
