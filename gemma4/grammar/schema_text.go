package grammar

import "unicode"

// text is the terminal of the strings of a conjunction. Where their characters matter they are written in the usual
// spelling, which escapes only what must be.
func (s *schema) text(c *conjunction) symbol {
	least, most, exact := s.lengths(c)
	r := s.p.own
	quote := r.literal(s.spelling.quote())
	if !exact {
		if least == 0 && most < 0 {
			return s.json.terms.str
		}
		character := r.jsonCharacter
		if s.spelling.call {
			character = s.character
		}
		return ownTerm(r.concat(quote, r.repeat(character(), least, most), quote))
	}
	return ownTerm(r.concat(quote, s.content(c), quote))
}

// lengths is the number of characters, and whether more than that is said.
func (s *schema) lengths(c *conjunction) (least, most int, exact bool) {
	most = -1
	for _, n := range c.nodes {
		least = max(least, n.minLen)
		if n.maxLen >= 0 && (most < 0 || n.maxLen < most) {
			most = n.maxLen
		}
		exact = exact || len(n.patterns) > 0
	}
	return least, most, exact || len(c.excluded(typeString)) > 0
}

// content is the text between the quotes of the strings of a conjunction.
func (s *schema) content(c *conjunction) regexID {
	r := s.p.own
	least, most, _ := s.lengths(c)
	list := []regexID{}
	anyLength := true
	for _, n := range c.nodes {
		for _, p := range n.patterns {
			list = append(list, r.unless(p.id, p.not))
			anyLength = anyLength && p.not
		}
	}
	var excluded []string
	for _, v := range c.excluded(typeString) {
		excluded = append(excluded, s.spelling.bare(v.text))
	}
	if len(excluded) > 0 {
		list = append(list, r.not(r.literals(excluded)))
	}
	if least > 0 || most >= 0 || anyLength { // a pattern matches characters alone
		list = append(list, r.repeat(s.character(), least, most))
	}
	return r.and(list...)
}

// character is one character of a string in its usual spelling.
func (s *schema) character() regexID {
	if s.characters == regexNone {
		s.characters = s.spelling.alphabet(s.p.own)(0, unicode.MaxRune)
	}
	return s.characters
}

// spelledRunes is a character from lo to hi as JSON strings usually spell it.
func (r *regexes) spelledRunes(lo, hi rune) regexID {
	var escaped []string
	for c := lo; c <= min(hi, 0x1F); c++ {
		escaped = append(escaped, spelled(c))
	}
	for _, c := range []rune{'"', '\\'} {
		if lo <= c && c <= hi {
			escaped = append(escaped, spelled(c))
		}
	}
	list := []regexID{r.literals(escaped)}
	for _, plain := range [][2]rune{{' ', '!'}, {'#', '['}, {']', 0x10FFFF}} {
		if from, to := max(lo, plain[0]), min(hi, plain[1]); from <= to {
			list = append(list, r.runes(from, to))
		}
	}
	return r.or(list...)
}
