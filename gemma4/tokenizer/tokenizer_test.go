package tokenizer_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/google/go-cmp/cmp"
)

func TestRolesOfTokens(t *testing.T) {
	tok := nano(t)
	lookup := func(text string) int {
		id, ok := tok.Lookup(text)
		if !ok || tok.TokenText(id) != text {
			t.Fatalf("no %q", text)
		}
		return id
	}
	if got, want := tok.EOG(), []int{lookup("<eos>"), lookup("<turn|>")}; !cmp.Equal(got, want) {
		t.Errorf("generation ends at %d (want %d)", got, want)
	}
	for text, want := range map[string]bool{"<eos>": true, "<turn|>": true, "<|turn>": false, "a": false} {
		if got := tok.IsEOG(lookup(text)); got != want {
			t.Errorf("%q ends generation: %v", text, got)
		}
	}
	if tok.IsEOG(tokenizer.None) || tok.IsControl(-1) || tok.IsControl(tok.Len()) || tok.TokenText(tok.Len()) != "" ||
		tok.Type(-1) != 0 {
		t.Error("an id outside the vocabulary has a role")
	}
	if _, ok := tok.Lookup("<no such token>"); ok {
		t.Error("found a token that is none")
	}
	if tok.BOS() != lookup("<bos>") || tok.PAD() != lookup("<pad>") || tok.UNK() != lookup("<unk>") ||
		tok.EOT() != lookup("<turn|>") {
		t.Error("a named token is another")
	}
	if tok.Type(lookup("<0x41>")) != tokenizer.Byte || tok.Type(lookup("a")) != tokenizer.Normal {
		t.Error("a type is wrong")
	}
}

func TestHostileVocabularies(t *testing.T) {
	for name, spoil := range map[string]func(*tokenizer.Vocabulary){
		"empty":                func(v *tokenizer.Vocabulary) { *v = tokenizer.Vocabulary{Model: "gemma4"} },
		"no pieces":            func(v *tokenizer.Vocabulary) { v.Tokens, v.Types = nil, nil },
		"no merges":            func(v *tokenizer.Vocabulary) { v.Merges = nil },
		"no merges nor scores": func(v *tokenizer.Vocabulary) { v.Model, v.Merges = "llama", nil },
		"types too short":      func(v *tokenizer.Vocabulary) { v.Types = v.Types[1:] },
		"scores too long":      func(v *tokenizer.Vocabulary) { v.Scores = make([]float32, len(v.Tokens)+1) },
		"score not a number": func(v *tokenizer.Vocabulary) {
			v.Scores = slices.Repeat([]float32{float32(math.NaN())}, len(v.Tokens))
		},
		"unknown type":           func(v *tokenizer.Vocabulary) { v.Types[300-40] = 7 },
		"type zero":              func(v *tokenizer.Vocabulary) { v.Types[0] = 0 },
		"bos outside":            func(v *tokenizer.Vocabulary) { v.BOS = len(v.Tokens) },
		"negative padding":       func(v *tokenizer.Vocabulary) { v.PAD = -2 },
		"eos outside":            func(v *tokenizer.Vocabulary) { v.EOS = []int{1, math.MaxInt32} },
		"negative eos":           func(v *tokenizer.Vocabulary) { v.EOS = []int{-1} },
		"duplicate piece":        func(v *tokenizer.Vocabulary) { v.Tokens[257] = "a" },
		"byte spelt wrongly":     func(v *tokenizer.Vocabulary) { v.Tokens[0] = "<0xZZ>" },
		"bytes missing":          func(v *tokenizer.Vocabulary) { v.Types[65] = tokenizer.Normal },
		"merge without a space":  func(v *tokenizer.Vocabulary) { v.Merges = []string{"aa"} },
		"empty merge":            func(v *tokenizer.Vocabulary) { v.Merges = []string{""} },
		"merge of unknown piece": func(v *tokenizer.Vocabulary) { v.Merges = []string{"a z"} },
		"merge into no piece":    func(v *tokenizer.Vocabulary) { v.Merges = []string{"a b"} },
		"none behind many": func(v *tokenizer.Vocabulary) {
			v.Merges = append(slices.Repeat([]string{"a a"},
				1000), "a b")
		},
	} {
		v := toy([]string{"a", "aa", "b", "c", "d"}, "a a")
		spoil(&v)
		if _, err := tokenizer.New(v); !errors.Is(err, tokenizer.ErrVocabulary) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v := toy([]string{"a"}, "a a")
	v.Model = "gpt2"
	if _, err := tokenizer.New(v); !errors.Is(err, tokenizer.ErrModel) {
		t.Errorf("another model: %v", err)
	}
}

func TestSpacesInMergedPieces(t *testing.T) {
	mustNew(t, toy([]string{"x", "y", "z", "x y", "x yz", " ", " z"}, "x y z", "  z"))
}

func TestVocabularyWithoutTypes(t *testing.T) {
	v := toy([]string{"a", "aa", "<eos>"}, "a a")
	v.Types = nil
	v.EOS = []int{258}
	tok := mustNew(t, v)
	if tok.Type(0) != tokenizer.Byte || tok.Type(256) != tokenizer.Normal || !tok.IsControl(258) {
		t.Error("types are not as the spelling says")
	}
	if got := tok.Encode("<eos>"); len(got) != 5 {
		t.Errorf("plain <eos> is %d", got)
	}
}

// FuzzNew builds tokenizers from arbitrary lists, one entry per line.
func FuzzNew(f *testing.F) {
	f.Add([]byte("a\nb\nab"), []byte("a b"), []byte{1, 1, 1}, "abab")
	f.Add([]byte("a\n<unk>\n<0x41>\n\n▁"), []byte("a a\n \n"), []byte{1, 2, 6, 1, 4}, "<unk> A")
	f.Fuzz(func(t *testing.T, tokens, merges, types []byte, text string) {
		v := tokenizer.Vocabulary{Model: "gemma4", BOS: tokenizer.None, PAD: tokenizer.None, UNK: 1,
			EOT: tokenizer.None}
		for line := range bytes.SplitSeq(tokens, []byte{'\n'}) {
			v.Tokens = append(v.Tokens, string(line))
		}
		for line := range bytes.SplitSeq(merges, []byte{'\n'}) {
			v.Merges = append(v.Merges, string(line))
		}
		for _, b := range types {
			v.Types = append(v.Types, tokenizer.TokenType(b))
		}
		for _, model := range []string{"gemma4", "llama"} {
			v.Model = model
			v.Scores = make([]float32, len(v.Tokens))
			if model == "llama" {
				v.Merges = nil
			}
			tok, err := tokenizer.New(v)
			if err != nil {
				continue
			}
			for _, id := range append(tok.Encode(text), tok.EncodeSpecial(text)...) {
				if id < 0 || id >= tok.Len() {
					t.Fatalf("%q became %d", text, id)
				}
			}
		}
	})
}
