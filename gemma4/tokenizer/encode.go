package tokenizer

import "strings"

// Span is a stretch of text to encode with its neighbours.
type Span struct {
	Text string
	// Trusted text is a template's own: control tokens are found in it.
	Trusted bool
}

// Encode turns text from outside into ids. Control tokens in it are encoded
// as the ordinary characters that they are spelt with, and none ever comes
// out; so are user-defined tokens, except for those that are text themselves
// (runs of white space, bare HTML tags), which are wanted. Bytes that are no
// UTF-8 become byte pieces. No BOS is added.
func (t *Tokenizer) Encode(text string) []int {
	return t.EncodeSpans([]Span{{Text: text}})
}

// EncodeSpecial turns a template's own text into ids: control and user-defined
// tokens are found in it, the longest at each position.
func (t *Tokenizer) EncodeSpecial(text string) []int {
	return t.EncodeSpans([]Span{{Text: text, Trusted: true}})
}

// EncodeSpans encodes the spans as one text, so that pieces join across their
// borders as anywhere else. A control token is found only where all of it is
// trusted.
func (t *Tokenizer) EncodeSpans(spans []Span) []int {
	text, trusted := joinSpans(spans)
	e := encoder{t: t}
	e.ids = make([]int, 0, len(text)/4+1)
	start := 0
	for at := 0; at < len(text); {
		if t.special.first[text[at]].hi == 0 {
			at++
			continue
		}
		id, size := t.special.longest(text[at:], trusted.from(at))
		if size == 0 {
			at++
			continue
		}
		e.text(text[start:at])
		e.ids = append(e.ids, int(id))
		at += size
		start = at
	}
	e.text(text[start:])
	return e.ids
}

// trustedRanges are positions in a text, ascending: trusted from the first to
// the second, and so on.
type trustedRanges struct{ starts, ends []int }

func joinSpans(spans []Span) (string, *trustedRanges) {
	ranges := &trustedRanges{}
	if len(spans) == 1 {
		if spans[0].Trusted {
			ranges.add(0, len(spans[0].Text))
		}
		return spans[0].Text, ranges
	}
	var b strings.Builder
	for _, s := range spans {
		if s.Trusted {
			ranges.add(b.Len(), b.Len()+len(s.Text))
		}
		b.WriteString(s.Text)
	}
	return b.String(), ranges
}

func (r *trustedRanges) add(start, end int) {
	if last := len(r.ends) - 1; last >= 0 && r.ends[last] == start {
		r.ends[last] = end
		return
	}
	r.starts = append(r.starts, start)
	r.ends = append(r.ends, end)
}

// from is the number of trusted bytes from at on. It is asked with rising
// positions, and forgets what lies behind.
func (r *trustedRanges) from(at int) int {
	for len(r.ends) > 0 && r.ends[0] <= at {
		r.starts, r.ends = r.starts[1:], r.ends[1:]
	}
	if len(r.ends) == 0 || r.starts[0] > at {
		return 0
	}
	return r.ends[0] - at
}
