package tokenizer

import (
	"slices"
	"sort"
	"strings"
)

// specials finds the tokens that are cut out of text before it is merged: the
// longest at each position.
type specials struct {
	entries []specialToken     // sorted by text
	first   [256]specialsRange // those that begin with a byte
}

type specialToken struct {
	text    string
	id      int32
	control bool
}

type specialsRange struct{ lo, hi int }

// newSpecials takes the special tokens of a vocabulary. SentencePiece finds runs of spaces
// behind its normalizing, so that both spellings of a space count: files have either one.
func newSpecials(known *pieces, kinds []kind, sentencePiece bool) *specials {
	s := &specials{}
	for id, k := range kinds {
		text := known.of(int32(id))
		if text == "" || k != control && k != literal {
			continue
		}
		s.entries = append(s.entries, specialToken{text, int32(id), k == control})
		if other := otherSpaces(text); sentencePiece && k == literal && other != text {
			if _, taken := known.id(other); !taken {
				s.entries = append(s.entries, specialToken{other, int32(id), false})
			}
		}
	}
	slices.SortFunc(s.entries, func(a, b specialToken) int { return strings.Compare(a.text, b.text) })
	for i, e := range s.entries {
		r := &s.first[e.text[0]]
		if r.hi == 0 {
			r.lo = i
		}
		r.hi = i + 1
	}
	return s
}

// otherSpaces is a run of spaces in the other of its two spellings, and any other text as
// it is.
func otherSpaces(text string) string {
	switch "" {
	case strings.Trim(text, " "):
		return strings.ReplaceAll(text, " ", space)
	case strings.Trim(text, space):
		return strings.ReplaceAll(text, space, " ")
	}
	return text
}

// longest is the longest special token at the start of text. Control tokens
// must lie within its first trusted bytes.
func (s *specials) longest(text string, trusted int) (id int32, size int) {
	r := s.first[text[0]]
	for depth := 1; r.lo < r.hi; depth++ {
		// All in r begin with text[:depth]; the shortest is the first.
		if e := s.entries[r.lo]; len(e.text) == depth && (!e.control || depth <= trusted) {
			id, size = e.id, depth
		}
		if depth == len(text) {
			break
		}
		r = s.narrow(r, depth, text[depth])
	}
	return id, size
}

// narrow keeps those that have the byte c at this depth.
func (s *specials) narrow(r specialsRange, depth int, c byte) specialsRange {
	in := s.entries[r.lo:r.hi]
	reaches := func(c int) int {
		return sort.Search(len(in), func(i int) bool {
			return len(in[i].text) > depth && int(in[i].text[depth]) >= c
		})
	}
	return specialsRange{r.lo + reaches(int(c)), r.lo + reaches(int(c)+1)}
}

// isLiteral tells user-defined tokens that are only text (runs of white space,
// bare HTML tags) from those that mark up a conversation.
func isLiteral(text string) bool {
	return strings.Trim(text, "\t\n\v\f\r ▁") == "" || isTag(text)
}

// isTag recognises "<b>" and "</h1>".
func isTag(text string) bool {
	name, ok := strings.CutPrefix(text, "<")
	if !ok {
		return false
	}
	name, ok = strings.CutSuffix(strings.TrimPrefix(name, "/"), ">")
	return ok && name != "" && strings.Trim(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}
