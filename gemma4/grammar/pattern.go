package grammar

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// runes matches the UTF-8 of one character from lo to hi; surrogates are none.
func (r *regexes) runes(lo, hi rune) regexID {
	var list []regexID
	add := func(lo, hi rune) {
		if lo <= hi {
			list = append(list, r.utf8Range(lo, hi))
		}
	}
	for _, part := range [][2]rune{{0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, 0x10FFFF}} {
		add(max(lo, part[0]), min(hi, part[1]))
	}
	return r.or(list...)
}

// utf8Range matches characters from lo to hi whose UTF-8 is of one length.
func (r *regexes) utf8Range(lo, hi rune) regexID {
	a, b := utf8.AppendRune(nil, lo), utf8.AppendRune(nil, hi)
	return r.byteRange(a, b)
}

// byteRange matches continuations from a to b, of one length, as numbers of base 64.
func (r *regexes) byteRange(a, b []byte) regexID {
	if len(a) == 1 {
		return r.set(setRange(int(a[0]), int(b[0])))
	}
	if a[0] == b[0] {
		return r.concat2(r.set(setRange(int(a[0]), int(a[0]))), r.byteRange(a[1:], b[1:]))
	}
	least, most := make([]byte, len(a)-1), make([]byte, len(a)-1)
	for i := range least {
		least[i], most[i] = 0x80, 0xBF
	}
	list := []regexID{
		r.concat2(r.set(setRange(int(a[0]), int(a[0]))), r.byteRange(a[1:], most)),
		r.concat2(r.set(setRange(int(b[0]), int(b[0]))), r.byteRange(least, b[1:])),
	}
	if a[0]+1 < b[0] {
		between := r.set(setRange(int(a[0])+1, int(b[0])-1))
		list = append(list, r.concat2(between, r.byteRange(least, most)))
	}
	return r.or(list...)
}

// pattern is a regular expression in RE2 syntax that a whole text matches. Anchors are allowed at its ends,
// where they say
// nothing new.
func (r *regexes) pattern(text string) (regexID, error) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return regexNone, fmt.Errorf("%w: pattern %.200q: %s", ErrSyntax, text, whyNot(err))
	}
	t := translation{r: r, text: text, alphabet: r.runes, anywhere: regexEmpty,
		spell: func(s string) string { return s }}
	id := t.translate(re, true, true)
	if t.err != nil {
		return regexNone, t.err
	}
	return id, r.err
}

// whyNot is what the parser says of a pattern, without the whole pattern in it.
func whyNot(err error) string {
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
		if bad.Code == syntax.ErrInvalidRepeatSize {
			return fmt.Sprintf("%.50q repeats more than 1000 times", bad.Expr)
		}
		return fmt.Sprintf("%s: %.50q", bad.Code, bad.Expr)
	}
	return fmt.Sprintf("%.200v", err)
}

// translation turns a parsed pattern into an expression over bytes. The parser bounds the depth of patterns to 1000.
type translation struct {
	r        *regexes
	text     string
	alphabet func(lo, hi rune) regexID // a character from lo to hi
	spell    func(string) string       // a text in that alphabet
	anywhere regexID                   // what may come before and behind the pattern where no anchor says otherwise
	err      error
}

func (t *translation) refuse(what string) regexID {
	if t.err == nil {
		t.err = fmt.Errorf("%w: %s in pattern %.200q", ErrUnsupported, what, t.text)
	}
	return regexNone
}

// translate is the expression of re; first and last tell whether it stands at an end of the whole pattern, where what
// may come before or behind belongs to it.
func (t *translation) translate(re *syntax.Regexp, first, last bool) regexID {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText:
		return t.anchor(re.Op == syntax.OpBeginText, first, last)
	case syntax.OpCapture:
		return t.translate(re.Sub[0], first, last)
	case syntax.OpQuest:
		return t.r.or(t.around(regexEmpty, first, last), t.translate(re.Sub[0], first, last))
	case syntax.OpAlternate:
		list := make([]regexID, len(re.Sub))
		for i, sub := range re.Sub {
			list[i] = t.translate(sub, first, last)
		}
		return t.r.or(list...)
	case syntax.OpConcat:
		list := make([]regexID, len(re.Sub))
		for i, sub := range re.Sub {
			list[i] = t.translate(sub, first && i == 0, last && i == len(re.Sub)-1)
		}
		return t.r.concat(list...)
	}
	return t.around(t.inner(re), first, last)
}

// around puts what may come before and behind around an expression that stands at an end.
func (t *translation) around(id regexID, first, last bool) regexID {
	if first {
		id = t.r.concat2(t.anywhere, id)
	}
	if last {
		id = t.r.concat2(id, t.anywhere)
	}
	return id
}

// anchor is an anchor at an end, where nothing comes before or behind.
func (t *translation) anchor(begin, first, last bool) regexID {
	if begin && first {
		return t.around(regexEmpty, false, last)
	}
	if !begin && last {
		return t.around(regexEmpty, first, false)
	}
	return t.refuse("an anchor inside")
}

// inner is an expression that no anchor is a direct part of.
func (t *translation) inner(re *syntax.Regexp) regexID {
	r := t.r
	switch re.Op {
	case syntax.OpNoMatch:
		return regexNone
	case syntax.OpEmptyMatch:
		return regexEmpty
	case syntax.OpLiteral:
		return t.literal(re)
	case syntax.OpCharClass:
		return t.class(re.Rune)
	case syntax.OpAnyCharNotNL:
		return t.class([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune})
	case syntax.OpAnyChar:
		return t.alphabet(0, unicode.MaxRune)
	case syntax.OpBeginLine, syntax.OpEndLine:
		return t.refuse("an anchor of lines, (?m)")
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return t.refuse("a word boundary")
	case syntax.OpStar:
		return r.star(t.translate(re.Sub[0], false, false))
	case syntax.OpPlus:
		return r.repeat(t.translate(re.Sub[0], false, false), 1, -1)
	}
	return r.repeat(t.translate(re.Sub[0], false, false), re.Min, re.Max) // OpRepeat, which is all that is left
}

func (t *translation) class(ranges []rune) regexID {
	list := make([]regexID, 0, len(ranges)/2)
	for i := 0; i+1 < len(ranges); i += 2 {
		list = append(list, t.alphabet(ranges[i], ranges[i+1]))
	}
	return t.r.or(list...)
}

func (t *translation) literal(re *syntax.Regexp) regexID {
	if re.Flags&syntax.FoldCase == 0 {
		return t.r.literal(t.spell(string(re.Rune)))
	}
	list := make([]regexID, len(re.Rune))
	for i, c := range re.Rune {
		same := []rune{c, c}
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			same = append(same, f, f)
		}
		list[i] = t.class(same)
	}
	return t.r.concat(list...)
}
