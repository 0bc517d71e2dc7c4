package tokenizer_test

import (
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// Without merges, the pair whose piece has the highest score goes first, the leftmost among
// equals, and what is no piece then falls back to its bytes. Files spell runs of spaces in
// either way.
func TestSentencePiece(t *testing.T) {
	for _, run := range []string{"  ", "▁▁"} {
		v := tokenizer.Vocabulary{Model: "llama", BOS: tokenizer.None, PAD: tokenizer.None, UNK: tokenizer.None,
			EOT: tokenizer.None}
		add := func(text string, score float32, kind tokenizer.TokenType) {
			v.Tokens, v.Scores, v.Types = append(v.Tokens, text), append(v.Scores, score), append(v.Types, kind)
		}
		for _, p := range []struct {
			text  string
			score float32
		}{{"a", -9}, {"b", -9}, {"c", -9}, {"▁", -9}, {"ab", -2}, {"bc", -1}, {"aa", -3}, {"▁a", -1}} {
			add(p.text, p.score, tokenizer.Normal)
		}
		add(run, -1000, tokenizer.UserDefined)
		add("<end_of_turn>", -1000, tokenizer.Control)
		for b := range 256 {
			add("<0x"+string("0123456789ABCDEF"[b/16])+string("0123456789ABCDEF"[b%16])+">", 0, tokenizer.Byte)
		}
		tok := mustNew(t, v)
		bytesFrom := 10
		for text, want := range map[string][]int{
			"abc": {0, 5}, "aaa": {6, 0}, " a": {7}, "b a": {1, 7}, "  a": {8, 0}, "▁▁a": {8, 0}, "   b": {8, 3, 1},
			"aéb": {0, bytesFrom + 0xc3, bytesFrom + 0xa9, 1},
		} {
			if got := tok.Encode(text); !slices.Equal(got, want) {
				t.Errorf("%q is %v, wanted %v", text, got, want)
			}
		}
		if tok.EOT() != 9 || !slices.Equal(tok.EOG(), []int{9}) {
			t.Errorf("a turn ends with %d, answers with %v", tok.EOT(), tok.EOG())
		}
	}
}
