package tokenizer_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

const megabyte = 1 << 20

// longTexts are a megabyte each: what people write, and what they would write
// to slow a tokenizer down.
func longTexts() map[string]string {
	prose := "The quick brown fox, which had not eaten since Tuesday, jumps over the lazy dog; 42 times.\n"
	random := rand.New(rand.NewPCG(1, 2))
	letters, runes, bytes := make([]byte, megabyte), make([]rune, megabyte/4), make([]byte, megabyte)
	for i := range letters {
		letters[i] = "etaoinshrdlu"[random.IntN(12)]
		bytes[i] = byte(random.Uint32())
	}
	for i := range runes {
		runes[i] = rune(random.IntN(0x10FFFF))
	}
	fill := func(s string) string { return strings.Repeat(s, megabyte/len(s)+1)[:megabyte] }
	return map[string]string{
		"prose":      fill(prose),
		"go":         fill("func (q queue) order() {\n\tfor i := len(q)/2 - 1; i >= 0; i-- {\n\t\tq.down(i)\n\t}\n}\n"),
		"japanese":   fill("吾輩は猫である。名前はまだ無い。どこで生れたか頓と見当がつかぬ。"),
		"one letter": fill("a"),
		"spaces":     fill(" "),
		"newlines":   fill("\n"),
		"no spaces":  string(letters),
		"unicode":    string(runes),
		"not utf-8":  string(bytes),
		"brackets":   fill("<"),
		"half tags":  fill("<unused624"),
	}
}

// BenchmarkEncode uses the released vocabulary where it is, see realPath.
func BenchmarkEncode(b *testing.B) { benchmarkEncode(b, mustNew(b, realVocabulary(b))) }

func BenchmarkEncodeNano(b *testing.B) { benchmarkEncode(b, nano(b)) }

func benchmarkEncode(b *testing.B, tok *tokenizer.Tokenizer) {
	for name, text := range longTexts() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				tok.EncodeSpecial(text)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	tok := mustNew(b, realVocabulary(b))
	ids := tok.Encode(longTexts()["prose"])
	b.SetBytes(megabyte)
	for b.Loop() {
		if _, err := tok.Decode(ids, tokenizer.DecodeOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	v := realVocabulary(b)
	b.ReportAllocs()
	for b.Loop() {
		mustNew(b, v)
	}
}
