package grammar

import (
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
)

// pattern is a pattern of JSON Schema: a regular expression of ECMA-262 that is found somewhere in a text. It may look
// ahead at the start of the text.
func (s *schema) pattern(text, place string) stringPattern {
	r := s.p.own
	var ahead []regexID
	rest, anchored := strings.CutPrefix(text, "^")
	for anchored && !alternatives(rest) && (strings.HasPrefix(rest, "(?!") || strings.HasPrefix(rest, "(?=")) {
		end := closing(rest)
		if end < 0 {
			break
		}
		seen := s.onePattern("^(?:"+rest[3:end]+")", text, place)
		ahead = append(ahead, r.unless(seen, rest[2] == '!'))
		rest = rest[end+1:]
	}
	if len(ahead) == 0 {
		return stringPattern{text: text, id: s.onePattern(text, text, place)}
	}
	return stringPattern{text: text, id: r.and(append(ahead, s.onePattern("^"+rest, text, place))...)}
}

// alternatives tells whether a pattern has alternatives that no parentheses enclose.
func alternatives(pattern string) bool {
	return scan(pattern, func(c byte, depth int) bool { return c == '|' && depth == 0 }) >= 0
}

// closing is where the parenthesis ends that a pattern begins with, -1 if it does not.
func closing(pattern string) int {
	return scan(pattern, func(c byte, depth int) bool { return c == ')' && depth == 0 })
}

// scan finds the first byte that is no part of a class or an escape and that found is true of, -1 if there is none.
// depth is the number of parentheses that are open behind it.
func scan(pattern string, found func(c byte, depth int) bool) int {
	depth, class := 0, false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\':
			i++
			continue
		case class:
			class = c != ']'
			continue
		case c == '[':
			class = true
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
		if found(c, depth) {
			return i
		}
	}
	return -1
}

func (s *schema) onePattern(pattern, text, place string) regexID {
	source, err := fromECMA(pattern)
	if err != nil {
		s.unsupported(place, "pattern %.200q: %v", text, err)
		return regexNone
	}
	return s.search(source, text, place)
}

// search is the texts, in their usual spelling, in which an expression in RE2 syntax is found. Errors name text.
func (s *schema) search(source, text, place string) regexID {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		s.unsupported(place, "pattern %.200q: %v", text, err)
		return regexNone
	}
	r := s.p.own
	t := translation{r: r, text: text, alphabet: s.spelling.alphabet(r), spell: s.spelling.bare, anywhere: r.star(s.character())}
	id := t.translate(re, true, true)
	if t.err != nil {
		s.fail(fmt.Errorf("at %s: %w", place, t.err))
	}
	return id
}

// What ECMA-262 means by \s.
const ecmaSpace = `\t\n\v\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`

// fromECMA writes a regular expression of ECMA-262 in RE2 syntax.
func fromECMA(pattern string) (string, error) {
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			n, err := escape(&b, pattern[i+1:], class)
			if err != nil {
				return "", err
			}
			i += n
		case c == '[' && !class:
			class = true
			b.WriteByte(c)
			if strings.HasPrefix(pattern[i+1:], "^") {
				b.WriteByte('^')
				i++
			}
			if strings.HasPrefix(pattern[i+1:], "]") {
				return "", fmt.Errorf("an empty class")
			}
		case c == '[':
			b.WriteString(`\[`)
		case c == ']':
			class = false
			b.WriteByte(c)
		case c == '.' && !class:
			b.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// escape writes an escape, of which what follows the backslash is given, and returns how many bytes that has.
func escape(b *strings.Builder, rest string, class bool) (int, error) {
	switch c := rest[0]; c {
	case 's':
		if class {
			b.WriteString(ecmaSpace)
		} else {
			b.WriteString("[" + ecmaSpace + "]")
		}
		return 1, nil
	case 'S':
		if class {
			return 0, fmt.Errorf(`\S in a class`)
		}
		b.WriteString("[^" + ecmaSpace + "]")
		return 1, nil
	case 'u':
		if len(rest) < 5 {
			return 0, fmt.Errorf(`\u without four digits`)
		}
		code, err := strconv.ParseUint(rest[1:5], 16, 16)
		if err != nil || code >= 0xD800 && code < 0xE000 {
			return 0, fmt.Errorf(`\u%s`, rest[1:5])
		}
		fmt.Fprintf(b, `\x{%X}`, code)
		return 5, nil
	case 'c':
		if len(rest) < 2 {
			return 0, fmt.Errorf(`\c without a letter`)
		}
		fmt.Fprintf(b, `\x{%X}`, rest[1]&31)
		return 2, nil
	case 'A', 'z', 'Z', 'a', 'C', 'Q', 'E', 'G', 'h', 'H', 'R', 'X', 'K':
		return 0, fmt.Errorf(`\%c, which ECMA-262 does not know`, c)
	case '0':
		b.WriteString(`\x00`)
		return 1, nil
	case 'b':
		if class {
			b.WriteString(`\x08`)
			return 1, nil
		}
	case '_', ' ': // which RE2 does not let be escaped
		b.WriteByte(c)
		return 1, nil
	}
	b.WriteByte('\\')
	b.WriteByte(rest[0])
	return 1, nil
}
