package answer

import (
	"strconv"
	"strings"

	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// Spelled is a token as APIs show it.
type Spelled struct {
	Token   string // its text, with U+FFFD where its bytes are no text
	Bytes   []byte
	ID      int32
	LogProb float32
}

// SpelledChoice is a choice with those that the model might have made instead.
type SpelledChoice struct {
	Spelled
	Top []Spelled
}

// Spell is choices as APIs show them, control tokens left out. top is how many alternatives are shown.
func Spell(t *tokenizer.Tokenizer, choices []sample.Choice, top int) []SpelledChoice {
	var all []SpelledChoice
	for _, c := range choices {
		if t.IsControl(int(c.Token)) || t.IsEOG(int(c.Token)) {
			continue
		}
		s := SpelledChoice{Spelled: spell(t, c.Token, c.LogProb)}
		for _, other := range c.Top[:min(top, len(c.Top))] {
			s.Top = append(s.Top, spell(t, other.Token, other.LogProb))
		}
		all = append(all, s)
	}
	return all
}

func spell(t *tokenizer.Tokenizer, id int32, logProb float32) Spelled {
	text := t.TokenText(int(id))
	bytes := []byte(strings.ReplaceAll(text, "▁", " "))
	if t.Type(int(id)) == tokenizer.Byte {
		if b, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(text, "<0x"), ">"), 16, 8); err == nil {
			bytes = []byte{byte(b)}
		}
	}
	return Spelled{Token: strings.ToValidUTF8(string(bytes), "\uFFFD"), Bytes: bytes, ID: id, LogProb: logProb}
}
