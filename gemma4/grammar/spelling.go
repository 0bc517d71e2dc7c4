package grammar

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// spelling is how the values of a schema are written: as JSON, or, in a tool call, in Gemma's own form.
// There strings lie between the tokens <|"|> and nothing in them is escaped, names are bare and in order, and null is
// None.
type spelling struct{ call bool }

// quote is what strings begin and end with.
func (s spelling) quote() string {
	if s.call {
		return string([]byte{quoteMark})
	}
	return `"`
}

// bare is a string without its quotes.
func (s spelling) bare(text string) string {
	if s.call {
		return text
	}
	return bare(text)
}

func (s spelling) quoted(text string) string { return s.quote() + s.bare(text) + s.quote() }

// key is the name of a member. In calls names are bare but for those that could not be told from what follows.
func (s spelling) key(name string) string {
	if s.call && !strings.ContainsAny(name, `:{}[]"`) && name == strings.TrimFunc(name, callSpace) && name != "" {
		return name
	}
	return s.quoted(name)
}

// callSpace tells whether those who read calls cut a character off the ends of a name.
func callSpace(c rune) bool { return unicode.IsSpace(c) || c < ' ' }

func (s spelling) nulls() []string {
	if s.call {
		return []string{"null", "None"}
	}
	return []string{"null"}
}

// alphabet makes the expression of one character of a string.
func (s spelling) alphabet(r *regexes) func(lo, hi rune) regexID {
	if s.call {
		return r.runes
	}
	return r.spelledRunes
}

// order is where the names of an object are, as they are written: in calls sorted without regard to case.
func (s spelling) order(names []string) []int {
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	if s.call {
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(strings.ToLower(names[a]), strings.ToLower(names[b]))
		})
	}
	return order
}

// typeName is the name of a type. Declarations of tools write it in capitals, too.
func (s spelling) typeName(name string) string {
	if s.call {
		return strings.ToLower(name)
	}
	return name
}

// ofCalls are the terminals of values in Gemma's own form.
func (t baseTerms) ofCalls(r *regexes) baseTerms {
	quote := r.marker(quoteMark)
	t.str = ownTerm(r.concat(quote, r.star(r.runes(0, unicode.MaxRune)), quote))
	t.key = ownTerm(r.callName())
	t.null = ownTerm(r.literals(spelling{call: true}.nulls()))
	return t
}

// callName is a bare name that no schema gives: characters that are no space and mean nothing else.
func (r *regexes) callName() regexID {
	list := []regexID{}
	from := '!'
	for _, c := range `"',:<>[]{|}` { // in order
		if from < c {
			list = append(list, r.runes(from, c-1))
		}
		from = c + 1
	}
	list = append(list, r.runes(from, 0x7E))
	for _, part := range [][2]rune{{0xA1, 0x167F}, {0x1681, 0x1FFF}, {0x200B, 0x2027}, {0x202A, 0x202E}, {0x2030, 0x205E},
		{0x2060, 0x2FFF}, {0x3001, unicode.MaxRune}} {
		list = append(list, r.runes(part[0], part[1]))
	}
	return r.repeat(r.or(list...), 1, -1)
}
