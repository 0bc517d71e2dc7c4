package grammar

import (
	"fmt"
	"slices"
)

// A program is a context-free grammar laid out flat. A rule is a list of alternatives, each a run of symbols
// that ends in
// an end symbol; a place in the grammar is the index of a symbol.
type program struct {
	symbols []symbol
	rules   [][]int32 // by rule: where its alternatives begin
	own     *regexes
	start   int32 // rule

	// later makes the alternatives of a rule anew when a machine first comes to it. Until then it stands for them with
	// others that can be completed where they can.
	later      map[int32]func()
	places     map[int32]string       // by rule, for errors: the place of its schema, or its own name
	made       map[int32]*conjunction // by rule: the schemas that hold, for errors; nil when the program is finished
	productive []bool                 // by rule, when the program is finished
	failed     int32                  // the symbol at which own failed
}

type symbolKind uint8

const (
	symbolEnd  symbolKind = iota // the alternative is complete
	symbolTerm                   // a regular expression
	symbolRule
)

// symbol is a terminal or a rule.
type symbol struct {
	kind symbolKind
	id   int32 // regexID or rule
}

// maxSymbols bounds the size of a program.
const maxSymbols = 1 << 21

func newProgram(v *Vocabulary) *program {
	return &program{own: v.base.extended(), later: map[int32]func(){}, places: map[int32]string{},
		made: map[int32]*conjunction{}}
}

// rule reserves a rule; its alternatives are added later.
func (p *program) rule() int32 {
	p.rules = append(p.rules, nil)
	return int32(len(p.rules) - 1)
}

// alternative adds one alternative to a rule.
func (p *program) alternative(rule int32, symbols ...symbol) {
	if len(p.symbols)+len(symbols) >= maxSymbols {
		p.own.fail(fmt.Errorf("%w: it has over %d symbols", ErrTooComplex, maxSymbols))
		return
	}
	p.rules[rule] = append(p.rules[rule], int32(len(p.symbols)))
	for _, s := range symbols {
		if s != (symbol{kind: symbolTerm, id: int32(regexEmpty)}) {
			p.symbols = append(p.symbols, s)
		}
	}
	p.symbols = append(p.symbols, symbol{})
}

func ruleSymbol(rule int32) symbol { return symbol{kind: symbolRule, id: rule} }
func ownTerm(id regexID) symbol    { return symbol{kind: symbolTerm, id: int32(id)} }

// uses lists, for each rule, the alternatives that name it; and for each symbol that begins an alternative the rule
// that has it, -1 for others.
func (p *program) uses() (uses [][]int32, owner []int32) {
	uses = make([][]int32, len(p.rules))
	owner = slices.Repeat([]int32{-1}, len(p.symbols))
	for rule, starts := range p.rules {
		for _, at := range starts {
			owner[at] = int32(rule)
			for i := at; p.symbols[i].kind != symbolEnd; i++ {
				if p.symbols[i].kind == symbolRule {
					uses[p.symbols[i].id] = append(uses[p.symbols[i].id], at)
				}
			}
		}
	}
	return uses, owner
}

// fixpoint finds the rules of which an alternative has symbols that all hold.
func (p *program) fixpoint(term func(symbol) bool, uses [][]int32, owner []int32) []bool {
	holds := make([]bool, len(p.rules))
	var todo []int32
	check := func(at int32) {
		if holds[owner[at]] {
			return
		}
		for i := at; p.symbols[i].kind != symbolEnd; i++ {
			s := p.symbols[i]
			if s.kind == symbolTerm && !term(s) || s.kind == symbolRule && !holds[s.id] {
				p.check(at)
				return
			}
		}
		holds[owner[at]] = true
		todo = append(todo, owner[at])
	}
	for _, starts := range p.rules {
		for _, at := range starts {
			check(at)
		}
	}
	for len(todo) > 0 {
		rule := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, at := range uses[rule] {
			check(at)
		}
	}
	return holds
}

// finish makes a program ready to run: alternatives that no text fits are dropped, so that every place that a machine
// reaches can be completed, and left recursion is refused.
func (p *program) finish() error {
	uses, owner := p.uses()
	nonEmpty := func(s symbol) bool { return p.own.nonEmpty(regexID(s.id)) }
	productive := p.fixpoint(nonEmpty, uses, owner)
	if p.own.err != nil {
		return p.tooComplex()
	}
	if !productive[p.start] {
		return p.contradiction(productive)
	}
	for rule, starts := range p.rules {
		kept := starts[:0]
		for _, at := range starts {
			if p.fits(at, productive, nonEmpty) {
				kept = append(kept, at)
			}
			p.check(at)
		}
		if p.own.err != nil {
			return p.tooComplex()
		}
		p.rules[rule] = kept
	}
	p.productive = productive
	nullable := p.fixpoint(func(s symbol) bool { return p.own.nullable(regexID(s.id)) }, uses, owner)
	return p.refuseLeftRecursion(nullable)
}

// tooComplex says where it is that expressions have become too much: at the schema whose rule uses them.
func (p *program) tooComplex() error {
	uses, owner := p.uses()
	begin := p.failed
	for begin > 0 && owner[begin] < 0 {
		begin--
	}
	if owner[begin] < 0 {
		return p.own.err
	}
	seen, todo := map[int32]bool{}, []int32{owner[begin]}
	for ; len(todo) > 0; todo = todo[1:] {
		if at, ok := p.places[todo[0]]; ok {
			return placed(p.own.err, at)
		}
		for _, user := range uses[todo[0]] {
			if rule := owner[user]; !seen[rule] {
				seen[rule] = true
				todo = append(todo, rule)
			}
		}
	}
	return p.own.err
}

// check notes the symbol at which expressions became too much.
func (p *program) check(at int32) {
	if p.own.err != nil && p.failed == 0 {
		p.failed = at
	}
}

// contradiction says where it is that no text fits.
func (p *program) contradiction(productive []bool) error {
	place, last, seen, todo := "", p.start, make([]bool, len(p.rules)), []int32{p.start}
	for len(todo) > 0 { // the last one met is as far from the start as any
		rule := todo[0]
		todo = todo[1:]
		if at, ok := p.places[rule]; ok {
			place, last = at, rule
		}
		for _, at := range p.rules[rule] {
			for i := at; p.symbols[i].kind != symbolEnd; i++ {
				if s := p.symbols[i]; s.kind == symbolRule && !productive[s.id] && !seen[s.id] {
					seen[s.id] = true
					todo = append(todo, s.id)
				}
			}
		}
	}
	if place == "" {
		return fmt.Errorf("%w it", ErrUnsatisfiable)
	}
	if c := p.made[last]; c != nil {
		place += ": " + c.says()
	}
	return fmt.Errorf("%w it: at %s", ErrUnsatisfiable, place)
}

func (p *program) fits(at int32, productive []bool, nonEmpty func(symbol) bool) bool {
	for i := at; p.symbols[i].kind != symbolEnd; i++ {
		s := p.symbols[i]
		if s.kind == symbolRule && !productive[s.id] || s.kind == symbolTerm && !nonEmpty(s) {
			return false
		}
	}
	return true
}

// alternatives are where the alternatives of a rule begin.
func (p *program) alternatives(rule int32) []int32 {
	if do := p.later[rule]; do != nil {
		delete(p.later, rule)
		before := p.rules[rule]
		p.rules[rule] = nil
		if do(); len(p.rules[rule]) == 0 {
			p.rules[rule] = before
		}
	}
	return p.rules[rule]
}

// refuseLeftRecursion looks for a rule that can begin with itself, without recursion of its own.
func (p *program) refuseLeftRecursion(nullable []bool) error {
	const open, done = 1, 2
	mark := make([]byte, len(p.rules))
	type frame struct {
		rule int32
		next []int32
	}
	for first := range p.rules {
		if mark[first] != 0 {
			continue
		}
		mark[first] = open
		stack := []frame{{int32(first), p.leftmost(int32(first), nullable)}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.next) == 0 {
				mark[top.rule] = done
				stack = stack[:len(stack)-1]
				continue
			}
			rule := top.next[0]
			top.next = top.next[1:]
			switch mark[rule] {
			case open:
				cycle := slices.IndexFunc(stack, func(f frame) bool { return f.rule == rule })
				for _, f := range stack[cycle:] {
					if at, ok := p.places[f.rule]; ok {
						return fmt.Errorf("%w: %s begins with itself (left recursion)", ErrUnsupported, at)
					}
				}
				return fmt.Errorf("%w: what is repeated may be empty (left recursion)", ErrUnsupported)
			case 0:
				mark[rule] = open
				stack = append(stack, frame{rule, p.leftmost(rule, nullable)})
			}
		}
	}
	return nil
}

// leftmost lists the rules that a rule may begin with.
func (p *program) leftmost(rule int32, nullable []bool) (list []int32) {
	for _, at := range p.rules[rule] {
		for i := at; p.symbols[i].kind != symbolEnd; i++ {
			s := p.symbols[i]
			if s.kind == symbolRule {
				list = append(list, s.id)
				if nullable[s.id] {
					continue
				}
			} else if p.own.nullable(regexID(s.id)) {
				continue
			}
			break
		}
	}
	return list
}
