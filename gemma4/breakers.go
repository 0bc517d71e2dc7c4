package gemma4

import (
	"slices"
	"strings"
	"sync"

	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// What llama.cpp takes of a sequence breaker, in bytes, and of what follows its first token.
const (
	maxBreaker     = 40
	maxBreakerTail = 20
)

// breakers are DRY's for the settings last asked for, in a vocabulary's tokens.
type breakers struct {
	mu    sync.Mutex
	texts []string
	found sample.Breakers
}

// of finds the tokens of texts, which takes a walk through the vocabulary where they are others
// than before.
func (b *breakers) of(t *tokenizer.Tokenizer, texts []string) sample.Breakers {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.found == nil || !slices.Equal(b.texts, texts) {
		b.texts, b.found = slices.Clone(texts), findBreakers(t, texts)
	}
	return b.found
}

func (m *Model) breakersOf(p sample.Params) sample.Breakers {
	return m.breakers.of(m.tokenizer, p.Breakers())
}

// findBreakers lists the token sequences in which a text may stand: each token that has all of
// it, and each that ends with its beginning, with the tokens of the rest behind it.
func findBreakers(t *tokenizer.Tokenizer, texts []string) sample.Breakers {
	found := sample.Breakers{}
	for id := range t.Len() {
		word := spelling(t, id)
		for _, text := range texts {
			if text = text[:min(len(text), maxBreaker)]; text == "" {
				continue
			}
			if strings.Contains(word, text) {
				found.Add(int32(id), nil)
				continue
			}
			for n := min(len(text)-1, len(word)); n > 0; n-- {
				if strings.HasSuffix(word, text[:n]) {
					rest := int32s(t.Encode(text[n:]))
					found.Add(int32(id), rest[:min(len(rest), maxBreakerTail)])
				}
			}
		}
	}
	return found
}

// spelling is what a token stands for in a text.
func spelling(t *tokenizer.Tokenizer, id int) string {
	word := t.TokenText(id)
	if strings.HasPrefix(word, "<0x") {
		word, _ = t.Decode([]int{id}, tokenizer.DecodeOptions{})
	}
	return strings.ReplaceAll(word, "▁", " ")
}
