package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DecodeOptions change what decoding leaves out.
type DecodeOptions struct {
	// SkipControl leaves out the tokens for which IsControl is true. Without
	// it they appear as they are spelt.
	SkipControl bool
}

// Decode turns ids back into text. "▁" becomes a space, byte pieces the
// characters that they make; bytes that make none become U+FFFD. An id outside
// the vocabulary is ErrToken.
func (t *Tokenizer) Decode(ids []int, opts DecodeOptions) (string, error) {
	d := t.NewDecoder(opts)
	var b strings.Builder
	for i, id := range ids {
		if !t.has(id) {
			return "", fmt.Errorf("%w: %d at position %d (the vocabulary has %d)", ErrToken, id, i, t.Len())
		}
		b.WriteString(d.Add(id))
	}
	b.WriteString(d.Flush())
	return b.String(), nil
}

// Decoder decodes a stream of tokens. What it returns is valid UTF-8 at every
// step: the bytes of a character are held back until it is whole.
type Decoder struct {
	t       *Tokenizer
	opts    DecodeOptions
	pending []byte // the start of a character
	begun   bool   // whether any text was decoded
}

// NewDecoder starts a stream.
func (t *Tokenizer) NewDecoder(opts DecodeOptions) *Decoder {
	return &Decoder{t: t, opts: opts}
}

// Add is the text that a token completes, often but not always its own. An id
// outside the vocabulary becomes U+FFFD.
func (d *Decoder) Add(id int) string {
	if !d.t.has(id) {
		return d.Flush() + string(utf8.RuneError)
	}
	text := d.t.known.of(int32(id))
	switch {
	case d.t.IsControl(id):
		if d.opts.SkipControl {
			return d.Flush()
		}
		return d.Flush() + strings.ToValidUTF8(text, "\uFFFD")
	case d.t.kinds[id] == byteFallback:
		b, _ := parseByte(text)
		d.pending = append(d.pending, b)
		d.begun = true
		return d.whole()
	}
	text = strings.ReplaceAll(text, space, " ")
	if !d.begun && d.t.vocabulary.AddSpacePrefix {
		text = strings.TrimPrefix(text, " ")
	}
	d.begun = true
	return d.Flush() + strings.ToValidUTF8(text, "\uFFFD")
}

// Flush returns what is held back, with U+FFFD for what never became a
// character. It ends the stream; Add may begin another.
func (d *Decoder) Flush() string {
	if len(d.pending) == 0 {
		return ""
	}
	text := strings.Repeat(string(utf8.RuneError), len(d.pending))
	d.pending = d.pending[:0]
	return text
}

// whole takes the complete characters out of what is pending. A byte that
// begins none is U+FFFD.
func (d *Decoder) whole() string {
	var text []byte
	for len(d.pending) > 0 && utf8.FullRune(d.pending) {
		r, size := utf8.DecodeRune(d.pending)
		text = utf8.AppendRune(text, r)
		d.pending = d.pending[size:]
	}
	return string(text)
}
