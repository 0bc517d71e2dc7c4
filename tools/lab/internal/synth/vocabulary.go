package synth

import (
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
)

const tokenizerPrefix = "tokenizer.ggml."

// longestPiece bounds the pieces that are made up, in bytes.
const longestPiece = 24

// tokenizerPairs is base's tokenizer, a small real one with every special token
// of the chat format, with pieces made up to size: each joins two of its own
// and has the merge that makes it, so that text finds them.
func tokenizerPairs(base gguf.Metadata, size int) ([]pair, error) {
	v, err := tokenizer.VocabularyFromGGUF(base)
	if err != nil {
		return nil, err
	}
	if size < len(v.Tokens) || len(v.Types) != len(v.Tokens) {
		return nil, fmt.Errorf("%w: a vocabulary of %d tokens; it takes at least %d", ErrShape, size, len(v.Tokens))
	}
	tokens, merges := grow(v, size)
	types, scores := make([]int32, size), make([]float32, size)
	for i := range tokens {
		types[i], scores[i] = int32(tokenizer.Normal), -1000
		if i < len(v.Types) {
			types[i] = int32(v.Types[i])
		}
	}
	if len(tokens) < size {
		return nil, fmt.Errorf("%w: a vocabulary of %d tokens; pieces can be made up for %d", ErrShape, size,
			len(tokens))
	}
	grown := map[string]any{
		"tokens": tokens, "scores": scores, "token_type": types, "merges": merges,
	}
	var pairs []pair
	for _, key := range base.Keys() {
		name, ok := strings.CutPrefix(key, tokenizerPrefix)
		if !ok {
			continue
		}
		value, _ := base.Lookup(key)
		p := pair{key, value}
		if g, ok := grown[name]; ok {
			p.value = g
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// grow makes up pieces, short ones and those of frequent parts first.
func grow(v tokenizer.Vocabulary, size int) (tokens, merges []string) {
	tokens, merges = append(tokens, v.Tokens...), append(merges, v.Merges...)
	known := make(map[string]bool, size)
	var parts []string
	for i, t := range v.Tokens {
		known[t] = true
		if v.Types[i] == tokenizer.Normal && t != "" && !strings.ContainsAny(t, " \n<>") {
			parts = append(parts, t)
		}
	}
	for sum := 0; sum < 2*len(parts)-1 && len(tokens) < size; sum++ {
		for a := max(0, sum-len(parts)+1); a <= min(sum, len(parts)-1) && len(tokens) < size; a++ {
			left, right := parts[a], parts[sum-a]
			joined := left + right
			if strings.HasPrefix(right, "▁") || len(joined) > longestPiece || known[joined] {
				continue
			}
			known[joined] = true
			tokens = append(tokens, joined)
			merges = append(merges, left+" "+right)
		}
	}
	return tokens, merges
}
