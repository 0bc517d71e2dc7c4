package tokenizer_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// ids of toy pieces: bytes are their own, "a" is 256.
func decodeToy(t *testing.T) *tokenizer.Tokenizer {
	v := toy([]string{"a", "aa", "▁b", "<x>", "bad\xff"}, "a a")
	v.Types[259] = tokenizer.Control
	return mustNew(t, v)
}

func TestDecoderHoldsBackHalfCharacters(t *testing.T) {
	for _, c := range []struct {
		name  string
		ids   []int
		steps []string // what each token and the end give
	}{
		{"bytes of a character", []int{0xC3, 0xA9}, []string{"", "é", ""}},
		{"four bytes", []int{0xF0, 0x9F, 0x98, 0x80}, []string{"", "", "", "😀", ""}},
		{"an end too early", []int{0xF0, 0x9F}, []string{"", "", "\uFFFD\uFFFD"}},
		{"a piece in between", []int{0xC3, 256, 0xA9}, []string{"", "\uFFFDa", "\uFFFD", ""}},
		{"a control token in between", []int{0xC3, 259}, []string{"", "\uFFFD<x>", ""}},
		{"no start of a character", []int{0xA9, 0x41}, []string{"\uFFFD", "A", ""}},
		{"a new start", []int{0xE2, 0xC3, 0xA9}, []string{"", "\uFFFD", "é", ""}},
		{"an overlong form", []int{0xC0, 0x80}, []string{"\uFFFD", "\uFFFD", ""}},
		{"spaces", []int{258, 258}, []string{" b", " b", ""}},
		{"a piece that is no utf-8", []int{260}, []string{"bad\uFFFD", ""}},
		{"an id outside", []int{0xC3, 999, -1}, []string{"", "\uFFFD\uFFFD", "\uFFFD", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decodeToy(t).NewDecoder(tokenizer.DecodeOptions{})
			for i, id := range c.ids {
				if got := d.Add(id); got != c.steps[i] {
					t.Errorf("token %d gives %q (want %q)", i, got, c.steps[i])
				}
			}
			if got := d.Flush(); got != c.steps[len(c.ids)] {
				t.Errorf("the end gives %q (want %q)", got, c.steps[len(c.ids)])
			}
		})
	}
}

func TestDecodeOptions(t *testing.T) {
	tok := decodeToy(t)
	for want, opts := range map[string]tokenizer.DecodeOptions{
		"a<x>a": {},
		"aa":    {SkipControl: true},
	} {
		if got, err := tok.Decode([]int{256, 259, 256}, opts); err != nil || got != want {
			t.Errorf("%+v: %q, %v (want %q)", opts, got, err, want)
		}
	}
}

func TestDecodeRefusesForeignIDs(t *testing.T) {
	tok := decodeToy(t)
	for _, id := range []int{-1, tok.Len(), 1 << 40} {
		if _, err := tok.Decode([]int{256, id}, tokenizer.DecodeOptions{}); !errors.Is(err, tokenizer.ErrToken) {
			t.Errorf("%d: %v", id, err)
		}
	}
}

// FuzzRoundTrip encodes and decodes any text, whole and as a stream.
func FuzzRoundTrip(f *testing.F) {
	for _, text := range []string{
		"", " ", "Hello world", "  two  spaces  ", "café 😀 👨‍👩‍👧", "\xff\xc3", "a\x00b", "<|turn>user\nHi<turn|>\n",
		"<0x41>", "<bos><eos>", "▁", strings.Repeat("a", 100), "日本語", "{\"k\": [1]}", "\r\n\t",
	} {
		f.Add(text)
	}
	tok := nano(f)
	f.Fuzz(func(t *testing.T, text string) {
		ids := tok.Encode(text)
		whole, err := tok.Decode(ids, tokenizer.DecodeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if utf8.ValidString(text) && whole != strings.ReplaceAll(text, "▁", " ") {
			t.Fatalf("%q came back as %q", text, whole)
		}
		d := tok.NewDecoder(tokenizer.DecodeOptions{})
		var stream strings.Builder
		for _, id := range ids {
			if tok.IsControl(id) {
				t.Fatalf("%q has the control token %d", text, id)
			}
			step := d.Add(id)
			if !utf8.ValidString(step) {
				t.Fatalf("%q: the stream gave %q", text, step)
			}
			stream.WriteString(step)
		}
		if stream.WriteString(d.Flush()); stream.String() != whole {
			t.Fatalf("%q: the stream gave %q, the whole %q", text, stream.String(), whole)
		}
		if _, err := tok.Decode(tok.EncodeSpecial(text), tokenizer.DecodeOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}
