package grammar

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// pattern is a pattern of JSON Schema: a regular expression of ECMA-262 that is found somewhere in a text. It may look
// ahead at the start of the text.
func (s *schema) pattern(text, place string) stringPattern {
	defer s.check(place)
	r := s.p.own
	var ahead []regexID
	rest, anchored := strings.CutPrefix(text, "^")
	for anchored && !alternatives(rest) && (strings.HasPrefix(rest, "(?!") || strings.HasPrefix(rest, "(?=")) {
		end := closing(rest)
		if end < 0 {
			break
		}
		inside := rest[3:end]
		if from, again := strings.CutPrefix(inside, "^"); again && !alternatives(from) {
			inside = from // it stands there already
		}
		seen := s.onePattern("^(?:"+inside+")", text, place)
		ahead = append(ahead, r.unless(seen, rest[2] == '!'))
		if rest = rest[end+1:]; rest != "" && strings.ContainsRune("?*+{", rune(rest[0])) {
			s.unsupported(place, "pattern %.200q: a lookahead that is repeated", text)
			return stringPattern{text: text, id: regexNone}
		}
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
		s.unsupported(place, "pattern %.200q: %s", text, whyNot(err))
		return regexNone
	}
	return s.search(source, text, place)
}

// search is the texts, in their usual spelling, in which an expression in RE2 syntax is found. Errors name text.
func (s *schema) search(source, text, place string) regexID {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		s.unsupported(place, "pattern %.200q: %s", text, whyNot(err))
		return regexNone
	}
	r := s.p.own
	t := translation{r: r, text: text, alphabet: s.spelling.alphabet(r), spell: s.spelling.bare,
		anywhere: r.star(s.character())}
	id := t.translate(re, true, true)
	if t.err != nil {
		s.fail(placedOf(ErrUnsupported, t.err, place))
	}
	return id
}

// What ECMA-262 means by \s, and by \S, in a class.
const (
	ecmaSpace    = `\t\n\v\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`
	ecmaNotSpace = `\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}` +
		`\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}`
)

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
		case c == '(' && !class && lookaround(pattern[i:]) != "":
			return "", errors.New(lookaround(pattern[i:]))
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

// lookaround says what a pattern begins with that no text can be held to, if it does.
func lookaround(pattern string) string {
	const ahead, behind = "it looks ahead elsewhere than behind its first ^", "it looks behind"
	for _, l := range []struct{ begin, what string }{
		{"(?<=", behind}, {"(?<!", behind}, {"(?=", ahead}, {"(?!", ahead},
	} {
		if strings.HasPrefix(pattern, l.begin) {
			return l.what
		}
	}
	return ""
}

// escape writes an escape, of which what follows the backslash is given, and returns how many bytes that has.
func escape(b *strings.Builder, rest string, class bool) (int, error) {
	switch c := rest[0]; c {
	case 's', 'S':
		set := ecmaSpace
		if c == 'S' {
			set = ecmaNotSpace
		}
		if !class {
			set = "[" + set + "]"
		}
		b.WriteString(set)
		return 1, nil
	case 'u':
		return escapedCharacter(b, rest)
	case 'p', 'P':
		return escapedProperty(b, rest)
	case 'c':
		if len(rest) < 2 {
			return 0, fmt.Errorf(`\c without a letter`)
		}
		fmt.Fprintf(b, `\x{%X}`, rest[1]&31)
		return 2, nil
	case 'A', 'z', 'Z', 'a', 'C', 'Q', 'E', 'G', 'h', 'H', 'R', 'X', 'K':
		return 0, fmt.Errorf(`\%c, which ECMA-262 does not know`, c)
	case '0':
		if len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9' {
			return 0, fmt.Errorf(`\%.2s, an octal number`, rest)
		}
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

// escapedCharacter writes \u with four digits, two of these that are one character, or \u{…}.
func escapedCharacter(b *strings.Builder, rest string) (int, error) {
	digits, size := "", 5
	if braced, ok := strings.CutPrefix(rest, "u{"); ok {
		end := max(strings.IndexByte(braced, '}'), 0)
		digits, size = braced[:end], end+3
	} else if len(rest) >= 5 {
		digits = rest[1:5]
	}
	code, err := strconv.ParseUint(digits, 16, 21)
	if err != nil || code > unicode.MaxRune {
		return 0, fmt.Errorf(`%q is no character: \u has four digits, or more of them in braces`,
			`\`+rest[:min(size, len(rest))])
	}
	if c := rune(code); utf16.IsSurrogate(c) {
		low := uint64(0)
		if len(rest) >= 11 && rest[5:7] == `\u` {
			low, _ = strconv.ParseUint(rest[7:11], 16, 16) // 0 is no half of a character
		}
		whole := utf16.DecodeRune(c, rune(low))
		if whole == unicode.ReplacementChar {
			return 0, fmt.Errorf(`\u%s is half a character`, digits)
		}
		code, size = uint64(whole), 11
	}
	fmt.Fprintf(b, `\x{%X}`, code)
	return size, nil
}

// escapedProperty writes \p{…} of a script or a category, whose kind may be named.
func escapedProperty(b *strings.Builder, rest string) (int, error) {
	inside, ok := strings.CutPrefix(rest[1:], "{")
	end := strings.IndexByte(inside, '}')
	if !ok || end < 0 {
		return 0, fmt.Errorf(`\%c without a name in braces`, rest[0])
	}
	name := inside[:end]
	if kind, value, named := strings.Cut(name, "="); named {
		switch kind {
		case "Script", "sc", "General_Category", "gc":
			name = value
		default:
			return 0, fmt.Errorf(`\p of %q`, kind)
		}
	}
	fmt.Fprintf(b, `\%c{%s}`, rest[0], name)
	return end + 3, nil
}
