package grammar

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// testVocabulary has every byte, some longer pieces, twins, an empty piece and an end token, which is the last.
func testVocabulary(t testing.TB) *Vocabulary {
	t.Helper()
	pieces := [][]byte{{}}
	for b := range 256 {
		pieces = append(pieces, []byte{byte(b)})
	}
	for _, s := range []string{`{"`, `":`, `": "`, `",`, `"}`, `"]`, `", "`, "true", "fals", "nul", "ab", "abc", "b]",
		"12",

		"1.5", "e+", `\u00`, `\"`, "é", "日", "日本", "  ", "\n  ", "[[", "]]", "},", "a", "x\"y", `":1`, `[1,`} {
		pieces = append(pieces, []byte(s))
	}
	pieces = append(pieces, nil)
	v, err := NewVocabulary(pieces, []int{len(pieces) - 1})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func compile(t testing.TB, v *Vocabulary, form Form) *Constraint {
	t.Helper()
	c, err := Compile(t.Context(), v, form)
	if err != nil {
		t.Fatalf("%+v: %v", form, err)
	}
	return c
}

func fits(t testing.TB, c *Constraint, text string) bool {
	t.Helper()
	ok, err := c.New().Fits([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return ok
}

func TestForms(t *testing.T) {
	v := testVocabulary(t)
	for _, test := range []struct {
		name   string
		form   Form
		fit    []string
		refuse []string
	}{
		{"json", Form{JSON: true},
			[]string{`{}`, `[]`, `{"a": [1, -2.5e+3, null], "b" : {"c":"é\u00e9\ud83d\ude00\n"}}`,
				`"x"`, `0`, `-0.10`, "[\n 1\n]"},
			[]string{``, ` 1`, `01`, `1.`, `{"a"}`, `[1,]`, `{,}`, `"a`, "\"\n\"",
				`"\x"`, `"\ud800"`, "\"\xff\"", `truee`, `[1]]`}},
		{"compact", Form{JSON: true, Whitespace: NoWhitespace}, []string{`{"a":[1,2]}`, `{"a b":" "}`},
			[]string{`{"a": 1}`, `[1, 2]`}},
		{"in a line", Form{JSON: true, Whitespace: OneSpace}, []string{`{"a": [1, 2]}`, `{"a b": " ", "c,": {}}`},
			[]string{`{"a":1}`, `[1,2]`, `[1 , 2]`, `[ 1]`, `{"a":  1}`, "{\"a\":\n1}"}},
		{"a schema in a line", Form{Schema: `{"properties": {"a": {"const": {"b": [1, 2]}}, "c": {"type": "array",
			"items": {"type": "integer"}}}, "required": ["a", "c"]}`, Whitespace: OneSpace},
			[]string{`{"a": {"b": [1, 2]}, "c": [3, 4]}`}, []string{`{"a":{"b":[1,2]},"c":[3,4]}`,
				`{"a": {"b": [1,2]}, "c": [3, 4]}`, `{"a": {"b": [1, 2]}, "c": [3 ,4]}`}},
		{"regex", Form{Regex: `(?i:ab)+|[0-9]{2,3}(\.\p{Greek})?`},
			[]string{"ab", "ABaB", "12", "123.λ"}, []string{"", "a", "1", "1234", "12.", "12.l"}},
		{"anchors", Form{Regex: `^(?:a|b$)|^c$`}, []string{"a", "b", "c"}, []string{"ab", "bc"}},
		{"dot", Form{Regex: `.`}, []string{"x", "é", "日", "😀"}, []string{"\n", "\xe9", "xx", "\xed\xa0\x80"}},
		{"counted", Form{Regex: `(a{0,3}b?){2}c{1000}`},
			[]string{"aaabaab" + strings.Repeat("c", 1000)}, []string{"c", "aaaab"}},
		{"choice", Form{Choice: []string{"abc", "ab", "b", "日本"}},
			[]string{"abc", "ab", "b", "日本"}, []string{"", "a", "日", "abcb"}},
		{"empty choice", Form{Choice: []string{"", "x"}}, []string{"", "x"}, []string{"xx"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := compile(t, v, test.form)
			for _, text := range test.fit {
				if !fits(t, c, text) {
					t.Errorf("%q does not fit", text)
				}
			}
			for _, text := range test.refuse {
				if fits(t, c, text) {
					t.Errorf("%q fits", text)
				}
			}
		})
	}
}

func TestFormsRefused(t *testing.T) {
	v := testVocabulary(t)
	for _, test := range []struct {
		name string
		form Form
		want error
	}{
		{"nothing", Form{}, ErrSyntax},
		{"two", Form{JSON: true, Regex: "a"}, ErrSyntax},
		{"no choice", Form{Choice: []string{}}, ErrUnsatisfiable},
		{"pattern", Form{Regex: "("}, ErrSyntax},
		{"deep", Form{Regex: strings.Repeat("(", 10000) + strings.Repeat(")", 10000)}, ErrSyntax},
		{"lookahead", Form{Regex: "(?=a)"}, ErrSyntax},
		{"boundary", Form{Regex: `\ba`}, ErrUnsupported},
		{"anchor", Form{Regex: `a^b`}, ErrUnsupported},
		{"nothing fits", Form{Regex: `[^\x00-\x{10FFFF}]`}, ErrUnsatisfiable},
		{"large", Form{Choice: []string{strings.Repeat("a", maxForm)}}, ErrTooComplex},
	} {
		if _, err := Compile(t.Context(), v, test.form); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// allowed is the mask of a matcher, token by token.
func allowed(t testing.TB, m *Matcher) []bool {
	t.Helper()
	v := m.constraint.vocabulary
	words := make([]uint32, v.Words())
	if err := m.Mask(words); err != nil {
		t.Fatal(err)
	}
	out := make([]bool, v.Len())
	for i := range out {
		out[i] = words[i/32]&(1<<(i%32)) != 0
	}
	return out
}

// walk goes on at random under the mask, comparing each mask with what Accept says of every token.
func walk(t testing.TB, c *Constraint, random *rand.Rand, steps int) (text []byte, done bool) {
	t.Helper()
	m := c.New()
	for range steps {
		mask := allowed(t, m)
		var may []int
		for token, ok := range mask {
			err := m.Accept(token)
			if (err == nil) != ok {
				t.Fatalf("after %q: the mask says %v of token %d (%q), Accept %v", text,
					ok, token, c.vocabulary.pieces[token], err)
			}
			if err == nil {
				may = append(may, token)
				if err := m.Rollback(1); err != nil {
					t.Fatal(err)
				}
			} else if !errors.Is(err, ErrToken) {
				t.Fatal(err)
			}
		}
		if len(may) == 0 {
			t.Fatalf("after %q nothing may come", text)
		}
		forced, err := m.Forced()
		if err != nil {
			t.Fatal(err)
		}
		token := may[random.IntN(len(may))]
		if piece := c.vocabulary.pieces[token]; len(forced) > 0 && piece[0] != forced[0] {
			t.Fatalf("after %q: %q is forced, %q allowed", text, forced, piece)
		}
		if m.Done() && random.IntN(4) == 0 {
			return text, true
		}
		if err := m.Accept(token); err != nil {
			t.Fatal(err)
		}
		if m.ended {
			return text, true
		}
		text = append(text, c.vocabulary.pieces[token]...)
	}
	return text, false
}

func TestMaskIsWhatAcceptTakes(t *testing.T) {
	v := testVocabulary(t)
	random := rand.New(rand.NewPCG(1, 2))
	pattern := `(ab?c|[a-f]{2,5}x"y)*(日本?|é)\n {0,4}`
	for range 20 {
		if text, done := walk(t, compile(t, v, Form{JSON: true}), random, 30); done && !json.Valid(text) {
			t.Errorf("%q is not JSON", text)
		}
		c := compile(t, v, Form{Regex: pattern})
		if text, done := walk(t, c, random, 30); done && !regexp.MustCompile(`^(?:`+pattern+`)$`).Match(text) {
			t.Errorf("%q does not match", text)
		}
		walk(t, compile(t, v, Form{Choice: []string{"abc", "abd", "12", "日本"}}), random, 10)
	}
}

func TestMatcher(t *testing.T) {
	v := testVocabulary(t)
	end := v.Len() - 1
	m := compile(t, v, Form{Choice: []string{"abcabc", "abcx"}}).New()
	if forced, err := m.Forced(); string(forced) != "abc" || err != nil {
		t.Errorf("forced %q, %v; want abc", forced, err)
	}
	if err := m.Accept(end); !errors.Is(err, ErrToken) {
		t.Errorf("an end at the beginning: %v", err)
	}
	for _, token := range []int{-1, 0, v.Len()} {
		if err := m.Accept(token); !errors.Is(err, ErrToken) {
			t.Errorf("token %d: %v", token, err)
		}
	}
	for _, b := range "abcx" {
		if err := m.Accept(int(b) + 1); err != nil {
			t.Fatal(err)
		}
	}
	if !m.Done() || !m.Complete() || m.Len() != 4 {
		t.Errorf("after abcx: done %v, complete %v, %d tokens", m.Done(), m.Complete(), m.Len())
	}
	if err := m.Accept(end); err != nil {
		t.Fatal(err)
	}
	for token, ok := range allowed(t, m) {
		if ok {
			t.Errorf("token %d is allowed behind the end", token)
		}
	}
	if err := m.Rollback(2); err != nil || m.Done() || m.Len() != 3 {
		t.Errorf("two tokens back: %v, done %v, %d tokens", err, m.Done(), m.Len())
	}
	if err := m.Rollback(4); !errors.Is(err, ErrToken) {
		t.Errorf("more taken back than accepted: %v", err)
	}
	if err := m.Mask(make([]uint32, 1)); !errors.Is(err, ErrVocabulary) {
		t.Errorf("a short mask: %v", err)
	}
}

// A text that is deep and long needs no more memory than the limits, and forgetting changes no answer.
func TestDeepText(t *testing.T) {
	v := testVocabulary(t)
	c := compile(t, v, Form{JSON: true})
	text := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	if !fits(t, c, text) || fits(t, c, text+"]") {
		t.Error("a deep list is not read right")
	}
	m := c.New()
	for i := range 1000 {
		if err := m.Accept('[' + 1); err != nil {
			t.Fatal(err)
		}
		if i%100 == 0 {
			c.machine.forget()
			allowed(t, m)
		}
	}
	if c.machine.bytes > 2*maxMachineBytes {
		t.Errorf("%d bytes are remembered", c.machine.bytes)
	}
}

func TestCatastrophicPatterns(t *testing.T) {
	v := testVocabulary(t)
	for _, pattern := range []string{`(a*)*(a*)*(a*)*b`, `(a|a|ab)*c`, `((a{0,9}){0,9}){0,9}b`, `[ab]*a[ab]{200}`} {
		c, err := Compile(t.Context(), v, Form{Regex: pattern})
		if err != nil {
			if !errors.Is(err, ErrTooComplex) {
				t.Errorf("%s: %v", pattern, err)
			}
			continue
		}
		m := c.New()
		words := make([]uint32, v.Words())
		for range 50 {
			if err = m.Mask(words); err == nil {
				err = m.Accept('a' + 1)
			}
			if err != nil {
				break
			}
		}
		if err != nil && !errors.Is(err, ErrTooComplex) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

func TestVocabularyRefused(t *testing.T) {
	for _, test := range []struct {
		pieces [][]byte
		ends   []int
	}{{nil, nil}, {[][]byte{{'a'}}, []int{1}}, {[][]byte{{'a'}}, []int{-1}},
		{[][]byte{make([]byte, maxTokenBytes+1)}, nil}} {
		if _, err := NewVocabulary(test.pieces, test.ends); !errors.Is(err, ErrVocabulary) {
			t.Errorf("%d pieces, ends %v: %v", len(test.pieces), test.ends, err)
		}
	}
}

func FuzzRegex(f *testing.F) {
	v := testVocabulary(f)
	f.Add("a|b*", "ab")
	f.Add(`(?i)[^x]{2,3}\d`, "ABC1")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 100 || len(text) > 100 {
			return
		}
		c, err := Compile(t.Context(), v, Form{Regex: pattern})
		if err != nil {
			return
		}
		ok, err := c.New().Fits([]byte(text))
		if err != nil || strings.ToValidUTF8(text, "") != text {
			return
		}
		if want := regexp.MustCompile(`\A(?:` + pattern + `)\z`).MatchString(text); ok != want {
			t.Errorf("pattern %q, text %q: fits %v, want %v", pattern, text, ok, want)
		}
	})
}

// Of a long pattern that cannot be read, errors show the beginning.
func TestErrorsOfPatternsAreShort(t *testing.T) {
	long := strings.Repeat("(", 100_000)
	schema, err := json.Marshal(map[string]string{"type": "string", "pattern": long})
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]Form{"regex": {Regex: long[:5000]}, "schema": {Schema: string(schema)}} {
		if _, err := Compile(t.Context(), testVocabulary(t), form); err == nil || len(err.Error()) > 400 ||
			!strings.Contains(err.Error(), "missing closing )") {
			t.Errorf("%s: %.500v", name, err)
		}
	}
}

// Compiling ends with the context: at once, and in the middle of hard work.
func TestCompileHeedsItsContext(t *testing.T) {
	v := testVocabulary(t)
	hard := Form{Schema: `{"type": "string", "pattern": "^(a|b)*a(a|b){20}$", ` +
		`"allOf": [{"pattern": "^(a|b)*b(a|b){20}$"}]}`}
	for _, form := range []Form{{Regex: "a"}, hard} {
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("nobody waits")
		cancel(gone)
		if _, err := Compile(ctx, v, form); !errors.Is(err, gone) {
			t.Errorf("%+v: %v", form, err)
		}
	}
	ctx := &endsAfter{Context: t.Context(), asked: 20}
	if _, err := Compile(ctx, v, hard); !errors.Is(err, context.Canceled) || errors.Is(err, ErrTooComplex) {
		t.Errorf("ended under way: %v", err)
	}
}

// endsAfter ends when it has been asked a number of times.
type endsAfter struct {
	context.Context
	asked int
}

func (c *endsAfter) Err() error {
	if c.asked--; c.asked < 0 {
		return context.Canceled
	}
	return nil
}
