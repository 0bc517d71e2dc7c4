package grammar

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of a grammar in GBNF.
const (
	maxGroups = 256  // groups within groups
	maxCount  = 2000 // of a repetition, as in llama.cpp
)

// gbnf reads llama.cpp's notation of grammars: rules `name ::= …` of literals, classes, groups, names and repetitions.
type gbnf struct {
	p     *program
	text  string
	at    int
	names map[string]int32
	made  map[string]bool
	order []string       // names in the order in which they were first read
	first map[string]int // where each was
	depth int
	in    string // the rule being read
}

func (p *program) gbnfForm(text string) error {
	if len(text) > maxForm {
		return fmt.Errorf("%w: a grammar of %d bytes (at most %d)", ErrTooComplex, len(text), maxForm)
	}
	g := &gbnf{p: p, text: text, names: map[string]int32{"root": p.start}, made: map[string]bool{},
		first: map[string]int{}}
	g.skip(true)
	for g.at < len(text) {
		if err := g.definition(); err != nil {
			return err
		}
	}
	for _, name := range append([]string{"root"}, g.order...) {
		if !g.made[name] {
			g.in = ""
			return g.fault(ErrSyntax, g.first[name], "there is no rule %.100q", name)
		}
	}
	return nil
}

func (g *gbnf) wrong(format string, args ...any) error {
	return g.fault(ErrSyntax, g.at, format, args...)
}

// fault is an error with its line, and the rule where one is being read.
func (g *gbnf) fault(kind error, at int, format string, args ...any) error {
	where := fmt.Sprintf("line %d of the grammar", g.line(at))
	if g.in != "" {
		where += fmt.Sprintf(", in the rule %.100q", g.in)
	}
	return fmt.Errorf("%w: %s: %s", kind, where, fmt.Sprintf(format, args...))
}

func (g *gbnf) line(at int) int { return 1 + strings.Count(g.text[:min(at, len(g.text))], "\n") }

// skip passes spaces and comments, and line ends where they mean nothing.
func (g *gbnf) skip(lines bool) {
	for g.at < len(g.text) {
		switch c := g.text[g.at]; {
		case c == ' ' || c == '\t' || lines && (c == '\n' || c == '\r'):
			g.at++
		case c == '#':
			for g.at < len(g.text) && g.text[g.at] != '\n' && g.text[g.at] != '\r' {
				g.at++
			}
		default:
			return
		}
	}
}

func (g *gbnf) take(text string) bool {
	if !strings.HasPrefix(g.text[g.at:], text) {
		return false
	}
	g.at += len(text)
	return true
}

func (g *gbnf) name() string {
	from := g.at
	for g.at < len(g.text) {
		c := g.text[g.at]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			break
		}
		g.at++
	}
	return g.text[from:g.at]
}

func (g *gbnf) rule(name string) int32 {
	rule, ok := g.names[name]
	if !ok {
		rule = g.p.rule()
		g.names[name] = rule
		g.order = append(g.order, name)
		g.first[name] = max(0, g.at-len(name))
	}
	return rule
}

func (g *gbnf) definition() error {
	begin := g.at
	g.in = ""
	name := g.name()
	if name == "" {
		return g.wrong("a name of a rule is missing before %.20q", g.text[g.at:])
	}
	g.skip(false)
	if !g.take("::=") {
		return g.wrong("::= is missing behind %.100q", name)
	}
	g.in = name
	g.skip(true)
	if g.made[name] {
		return g.wrong("a second rule %.100q", name)
	}
	g.made[name] = true
	rule := g.rule(name)
	g.p.places[rule] = fmt.Sprintf("the rule %.100q (line %d of the grammar)", name, g.line(begin))
	if err := g.alternatives(rule); err != nil {
		return err
	}
	if g.at < len(g.text) && g.text[g.at] != '\n' && g.text[g.at] != '\r' {
		return g.wrong("the rule does not end before %.20q", g.text[g.at:])
	}
	g.skip(true)
	return g.p.own.err
}

func (g *gbnf) alternatives(rule int32) error {
	for {
		symbols, err := g.sequence()
		if err != nil {
			return err
		}
		g.p.alternative(rule, symbols...)
		if !g.take("|") {
			return g.p.own.err
		}
		g.skip(true)
	}
}

func (g *gbnf) sequence() (out []symbol, err error) {
	for g.at < len(g.text) {
		var s symbol
		switch c := g.text[g.at]; {
		case c == '"':
			s, err = g.literal()
		case c == '[':
			s, err = g.class()
		case c == '.':
			g.at++
			s = ownTerm(g.p.own.runes(0, utf8.MaxRune))
		case c == '(':
			s, err = g.group()
		case c == '<':
			return nil, g.fault(ErrUnsupported, g.at, "tokens by name (<…>)")
		default:
			name := g.name()
			if name == "" {
				return out, nil
			}
			s = ruleSymbol(g.rule(name))
		}
		if err != nil {
			return nil, err
		}
		g.skip(g.depth > 0)
		if s, err = g.repeated(s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (g *gbnf) group() (symbol, error) {
	if g.depth++; g.depth > maxGroups {
		return symbol{}, g.fault(ErrTooComplex, g.at, "over %d groups within groups", maxGroups)
	}
	begin := g.at
	g.at++
	g.skip(true)
	rule := g.p.rule()
	if err := g.alternatives(rule); err != nil {
		return symbol{}, err
	}
	g.depth--
	if !g.take(")") {
		return symbol{}, g.fault(ErrSyntax, begin, "a ( has no ) behind it")
	}
	return ruleSymbol(rule), nil
}

// character reads one character of a literal or class.
func (g *gbnf) character() (rune, error) {
	if !g.take(`\`) {
		c, n := utf8.DecodeRuneInString(g.text[g.at:])
		if c == utf8.RuneError && n == 1 {
			return 0, g.wrong("it is not UTF-8")
		}
		g.at += n
		return c, nil
	}
	if g.at >= len(g.text) {
		return 0, g.wrong("it ends within an escape")
	}
	c := g.text[g.at]
	g.at++
	switch c {
	case 'x':
		return g.hex(2)
	case 'u':
		return g.hex(4)
	case 'U':
		return g.hex(8)
	case 't':
		return '\t', nil
	case 'r':
		return '\r', nil
	case 'n':
		return '\n', nil
	case '\\', '"', '[', ']':
		return rune(c), nil
	}
	return 0, g.wrong("the escape \\%c is not known", c)
}

func (g *gbnf) hex(digits int) (rune, error) {
	value := uint32(0)
	for range digits {
		if g.at >= len(g.text) {
			return 0, g.wrong("an escape needs %d hexadecimal digits", digits)
		}
		digit := strings.IndexByte("0123456789abcdef", g.text[g.at]|0x20)
		if digit < 0 || g.text[g.at] < '0' {
			return 0, g.wrong("an escape needs %d hexadecimal digits", digits)
		}
		g.at++
		value = value<<4 | uint32(digit)
	}
	if !utf8.ValidRune(rune(value)) {
		return 0, g.wrong("%#x is no character", value)
	}
	return rune(value), nil
}

func (g *gbnf) literal() (symbol, error) {
	begin := g.at
	g.at++
	var text []rune
	for !g.take(`"`) {
		if g.at >= len(g.text) {
			return symbol{}, g.fault(ErrSyntax, begin, "a literal has no \" at its end")
		}
		c, err := g.character()
		if err != nil {
			return symbol{}, err
		}
		text = append(text, c)
	}
	return ownTerm(g.p.own.literal(string(text))), nil
}

func (g *gbnf) class() (symbol, error) {
	begin := g.at
	g.at++
	r := g.p.own
	negated := g.take("^")
	var list []regexID
	for !g.take("]") {
		if g.at >= len(g.text) {
			return symbol{}, g.fault(ErrSyntax, begin, "a class has no ] at its end")
		}
		low, err := g.character()
		if err != nil {
			return symbol{}, err
		}
		high := low
		if strings.HasPrefix(g.text[g.at:], "-") && !strings.HasPrefix(g.text[g.at:], "-]") {
			g.at++
			if g.at >= len(g.text) {
				return symbol{}, g.fault(ErrSyntax, begin, "a class has no ] at its end")
			}
			if high, err = g.character(); err != nil {
				return symbol{}, err
			}
			if high < low {
				return symbol{}, g.wrong("the range %c-%c is turned round", low, high)
			}
		}
		list = append(list, r.runes(low, high))
	}
	id := r.or(list...)
	if negated {
		id = r.and(r.runes(0, utf8.MaxRune), r.not(id))
	}
	return ownTerm(id), nil
}

// repeated reads a *, +, ? or {m,n} behind a symbol. More than one is read as repetition of repetition.
func (g *gbnf) repeated(s symbol) (symbol, error) {
	for {
		low, high := 0, -1
		switch {
		case g.take("*"):
		case g.take("+"):
			low = 1
		case g.take("?"):
			high = 1
		case g.take("{"):
			var err error
			if low, high, err = g.counts(); err != nil {
				return s, err
			}
		default:
			return s, nil
		}
		g.skip(g.depth > 0)
		s = g.p.repeat(s, low, high)
	}
}

func (g *gbnf) counts() (low, high int, err error) {
	g.skip(g.depth > 0)
	low, found := g.count()
	if !found {
		return 0, 0, g.wrong("{ needs a count")
	}
	high = low
	g.skip(g.depth > 0)
	if g.take(",") {
		g.skip(g.depth > 0)
		if high, found = g.count(); !found {
			high = -1
		}
		g.skip(g.depth > 0)
	}
	switch {
	case !g.take("}"):
		return 0, 0, g.wrong("a } is missing")
	case low > maxCount || high > maxCount:
		return 0, 0, g.fault(ErrTooComplex, g.at, "a repetition of over %d times", maxCount)
	case high >= 0 && high < low:
		return 0, 0, g.wrong("{%d,%d} is turned round", low, high)
	}
	return low, high, nil
}

func (g *gbnf) count() (n int, found bool) {
	for g.at < len(g.text) && g.text[g.at] >= '0' && g.text[g.at] <= '9' {
		n, found = min(10*n+int(g.text[g.at]-'0'), maxCount+1), true
		g.at++
	}
	return n, found
}

// repeat is a symbol from low to high times; high < 0 is without end.
func (p *program) repeat(s symbol, low, high int) symbol {
	if s.kind == symbolTerm {
		return ownTerm(p.own.repeat(regexID(s.id), low, high))
	}
	rest := p.rule() // what may follow the last of low
	p.alternative(rest)
	if high < 0 {
		p.alternative(rest, s, ruleSymbol(rest))
	}
	for range high - low {
		more := p.rule()
		p.alternative(more)
		p.alternative(more, s, ruleSymbol(rest))
		rest = more
	}
	all := p.rule()
	symbols := make([]symbol, 0, low+1)
	for range low {
		symbols = append(symbols, s)
	}
	p.alternative(all, append(symbols, ruleSymbol(rest))...)
	return ruleSymbol(all)
}
