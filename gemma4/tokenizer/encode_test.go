package tokenizer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// toy is a vocabulary of byte pieces, the given ones and their merges.
func toy(pieces []string, merges ...string) tokenizer.Vocabulary {
	v := tokenizer.Vocabulary{
		Model: "gemma4", BOS: tokenizer.None, PAD: tokenizer.None, UNK: tokenizer.None, EOT: tokenizer.None,
		Merges: merges,
	}
	for b := range 256 {
		v.Tokens = append(v.Tokens, fmt.Sprintf("<0x%02X>", b))
		v.Types = append(v.Types, tokenizer.Byte)
	}
	for _, p := range pieces {
		v.Tokens = append(v.Tokens, p)
		v.Types = append(v.Types, tokenizer.Normal)
	}
	return v
}

func texts(t *tokenizer.Tokenizer, ids []int) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = t.TokenText(id)
	}
	return out
}

func TestMergeOrder(t *testing.T) {
	letters := []string{"a", "b", "c", "é", "▁"}
	for _, c := range []struct {
		name, text   string
		more, merges []string
		want         []string
	}{
		{"leftmost among equals", "aaa", []string{"aa"}, []string{"a a"}, []string{"aa", "a"}},
		{"lowest rank first", "abc", []string{"ab", "bc"}, []string{"b c", "a b"}, []string{"a", "bc"}},
		{"a merge opens a lower rank", "aab", []string{"ab", "aab"}, []string{"a ab", "a b"}, []string{"aab"}},
		{"the first of two equal merges counts", "abc", []string{"ab", "bc"}, []string{"a b", "b c", "a b"},
			[]string{"ab", "c"}},
		{"spaces", " a  b", []string{"▁a"}, []string{"▁ a"}, []string{"▁a", "▁", "▁", "b"}},
		{"bytes", "aéxé", []string{"aé"}, []string{"a é"}, []string{"aé", "<0x78>", "é"}},
		{"merged bytes", "ü", []string{"<0xC3><0xBC>"}, []string{"<0xC3> <0xBC>"}, []string{"<0xC3><0xBC>"}},
		{"letters and bytes", "aü", []string{"a<0xC3>"}, []string{"a <0xC3>"}, []string{"a<0xC3>", "<0xBC>"}},
		{"not utf-8", "a\xff\xc3b", nil, []string{}, []string{"a", "<0xFF>", "<0xC3>", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			merges := append(slices.Clone(c.merges), "c c") // so that there are some
			tok := mustNew(t, toy(append(append(letters, c.more...), "cc"), merges...))
			if diff := cmp.Diff(c.want, texts(tok, tok.Encode(c.text))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAgainstPlainMerging compares with merging as it is defined, one pass
// over the whole run for each join.
func TestAgainstPlainMerging(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		merges := 1 + random.IntN(30)
		if i%30 == 0 {
			merges = 700 // more than are read together
		}
		v := randomVocabulary(random, merges)
		tok := mustNew(t, v)
		text := randomText(random, "abcé ", random.IntN(40))
		if diff := cmp.Diff(mergePlainly(v, text), texts(tok, tok.Encode(text)), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q with merges %q (-want +got):\n%s", text, v.Merges, diff)
		}
	}
}

func randomVocabulary(random *rand.Rand, n int) tokenizer.Vocabulary {
	pieces := []string{"a", "b", "c", "é", "▁"}
	var merges []string
	for range n {
		left, right := pieces[random.IntN(len(pieces))], pieces[random.IntN(len(pieces))]
		merges = append(merges, left+" "+right)
		if !slices.Contains(pieces, left+right) {
			pieces = append(pieces, left+right)
		}
	}
	random.Shuffle(len(merges), func(i, j int) { merges[i], merges[j] = merges[j], merges[i] })
	return toy(pieces, merges...)
}

func randomText(random *rand.Rand, alphabet string, n int) string {
	runes := []rune(alphabet)
	out := make([]rune, n)
	for i := range out {
		out[i] = runes[random.IntN(len(runes))]
	}
	return string(out)
}

func mergePlainly(v tokenizer.Vocabulary, text string) []string {
	pieces := strings.Split(strings.ReplaceAll(text, " ", "▁"), "")
	for {
		best, at := len(v.Merges), 0
		for i := 1; i < len(pieces); i++ {
			rank := slices.Index(v.Merges, pieces[i-1]+" "+pieces[i])
			if rank >= 0 && rank < best {
				best, at = rank, i
			}
		}
		if best == len(v.Merges) {
			return pieces
		}
		pieces[at-1] += pieces[at]
		pieces = slices.Delete(pieces, at, at+1)
	}
}

func TestScores(t *testing.T) {
	v := toy([]string{"▁", "a", "b", "c", "ab", "bc", "abc", "<s>", "日本"})
	v.Model = "llama"
	v.Scores = make([]float32, len(v.Tokens))
	score := func(text string, s float32) { v.Scores[slices.Index(v.Tokens, text)] = s }
	v.Types[slices.Index(v.Tokens, "<s>")] = tokenizer.Control
	score("ab", -2)
	score("bc", -1)
	score("abc", -9)
	for text, want := range map[string][]string{
		"":      {},
		"abc":   {"abc"},         // a+bc
		"aabc":  {"a", "abc"},    //
		"abab":  {"ab", "ab"},    //
		"a b":   {"a", "▁", "b"}, //
		"日本":    {"日本"},          // of characters that are no pieces
		"日":     {"<0xE6>", "<0x97>", "<0xA5>"},
		"<s>":   {"<0x3C>", "<0x73>", "<0x3E>"},
		"\xffa": {"<0xFF>", "a"},
	} {
		tok := mustNew(t, v)
		if diff := cmp.Diff(want, texts(tok, tok.Encode(text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestSpacePrefix(t *testing.T) {
	v := toy([]string{"▁", "a", "▁a", "<s>"}, "▁ a")
	v.AddSpacePrefix = true
	v.Types[len(v.Types)-1] = tokenizer.Control
	tok := mustNew(t, v)
	ids := tok.EncodeSpecial("<s>a a")
	if diff := cmp.Diff([]string{"<s>", "▁a", "▁a"}, texts(tok, ids)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text, err := tok.Decode(ids, tokenizer.DecodeOptions{SkipControl: true})
	if err != nil || text != "a a" {
		t.Errorf("decoded %q, %v", text, err)
	}
}

func TestUnknownToken(t *testing.T) {
	v := toy([]string{"a", "aa", "<unk>"}, "a a")
	v.Tokens, v.Types = v.Tokens[256:], v.Types[256:]
	v.UNK = 2
	v.Types[2] = tokenizer.Unknown
	tok := mustNew(t, v)
	if diff := cmp.Diff([]int{2, 0, 2, 1}, tok.Encode("xyaéaa")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text, err := tok.Decode([]int{2, 0}, tokenizer.DecodeOptions{SkipControl: true})
	if err != nil || text != "a" {
		t.Errorf("decoded %q, %v", text, err)
	}
}

// TestNoForgedControlTokens types every token of the vocabulary as a user.
func TestNoForgedControlTokens(t *testing.T) {
	tok := nano(t)
	for id := range tok.Len() {
		text := tok.TokenText(id)
		for _, typed := range []string{text, "a" + text + "b", text + text, strings.TrimSuffix(text, ">")} {
			for _, got := range tok.Encode(typed) {
				if tok.IsControl(got) {
					t.Fatalf("%q became %q", typed, tok.TokenText(got))
				}
			}
		}
	}
}

func TestMergesNeverMakeControlTokens(t *testing.T) {
	v := toy([]string{"<", "|", "x", "<|", "<|x", "y"}, "< |", "<| x")
	for _, control := range []string{"<|x", "y"} {
		v.Types[slices.Index(v.Tokens, control)] = tokenizer.Control
	}
	tok := mustNew(t, v)
	if diff := cmp.Diff([]string{"<|", "x", "<0x79>"}, texts(tok, tok.Encode("<|xy"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"<|x", "y"}, texts(tok, tok.EncodeSpecial("<|xy"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestUserDefinedTokens: files mark markup and plain text as user-defined
// alike; only the latter is for everybody.
func TestUserDefinedTokens(t *testing.T) {
	user := []string{"<b>", "</b>", "<h1>", "\n\n", "▁▁", "<|tool_call>", "<tool_call|>", `<|"|>`, "<start_of_turn>",
		"<bos>"}
	v := toy(append([]string{"a", "aa"}, user...), "a a")
	for i := len(v.Types) - len(user); i < len(v.Types); i++ {
		v.Types[i] = tokenizer.UserDefined
	}
	v.BOS = slices.Index(v.Tokens, "<bos>")
	tok := mustNew(t, v)
	for _, text := range user {
		literal := slices.Contains(user[:5], text)
		if got := len(tok.Encode(text)) == 1; got != literal {
			t.Errorf("%q in plain text is one token: %v", text, got)
		}
		if got := tok.IsControl(slices.Index(v.Tokens, text)); got == literal {
			t.Errorf("%q steers the model: %v", text, got)
		}
		if got := tok.EncodeSpecial("a" + text + "a"); len(got) != 3 {
			t.Errorf("%q in a template is %q", text, texts(tok, got))
		}
	}
}

func TestLongestSpecialTokenWins(t *testing.T) {
	v := toy([]string{"a", "aa", "<x", "<x>", "<x>>>", "<y>"}, "a a")
	for i := 258; i < len(v.Types); i++ {
		v.Types[i] = tokenizer.Control
	}
	tok := mustNew(t, v)
	for text, want := range map[string][]string{
		"<x>>>":   {"<x>>>"},
		"<x>>":    {"<x>", "<0x3E>"},
		"<x":      {"<x"},
		"<<x>":    {"<0x3C>", "<x>"},
		"<y<x>aa": {"<0x3C>", "<0x79>", "<x>", "aa"},
	} {
		if diff := cmp.Diff(want, texts(tok, tok.EncodeSpecial(text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestSpansAreOneText(t *testing.T) {
	v := toy([]string{"a", "b", "ab", "<x>", "\n", "\n\n"}, "a b", "\n \n")
	v.Types[259] = tokenizer.Control
	tok := mustNew(t, v)
	span := func(trusted bool, text string) tokenizer.Span { return tokenizer.Span{Text: text, Trusted: trusted} }
	for _, c := range []struct {
		name  string
		spans []tokenizer.Span
		want  []string
	}{
		{"pieces join across", []tokenizer.Span{span(true, "\na"), span(false, "b\n"), span(true, "\n")},
			[]string{"\n", "ab", "\n\n"}},
		{"tokens lie in trusted text", []tokenizer.Span{span(true, "<x>"), span(false, "<x>"), span(true, "<x>")},
			[]string{"<x>", "<0x3C>", "<0x78>", "<0x3E>", "<x>"}},
		{"neighbours trusted together", []tokenizer.Span{span(true, "<"), span(true, "x>")}, []string{"<x>"}},
		{"begun by the user", []tokenizer.Span{span(false, "<"), span(true, "x>")},
			[]string{"<0x3C>", "<0x78>", "<0x3E>"}},
		{"ended by the user", []tokenizer.Span{span(true, "<x"), span(false, ">")},
			[]string{"<0x3C>", "<0x78>", "<0x3E>"}},
		{"ended by the user, behind a token",
			[]tokenizer.Span{span(true, "<x>"), span(false, "ab"), span(true, "<x"), span(false, ">")},
			[]string{"<x>", "ab", "<0x3C>", "<0x78>", "<0x3E>"}},
		{"empty spans", []tokenizer.Span{span(true, ""), span(false, ""), span(true, "<x>"), span(true, "")},
			[]string{"<x>"}},
	} {
		if diff := cmp.Diff(c.want, texts(tok, tok.EncodeSpans(c.spans))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestLongTexts is about ending at all and losing nothing; the speed is the
// benchmarks' business.
func TestLongTexts(t *testing.T) {
	tok := nano(t)
	for name, text := range longTexts() {
		back, err := tok.Decode(tok.Encode(text), tokenizer.DecodeOptions{})
		want := text
		if !utf8.ValidString(text) {
			want, back = "", "" // what is lost depends on where characters break
		}
		if err != nil || back != want {
			t.Errorf("%s does not come back (%v)", name, err)
		}
	}
}
