package grammar

import "fmt"

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
	productive []bool // by rule, when the program is finished
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
	return &program{own: v.base.extended(), later: map[int32]func(){}}
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

// uses lists, for each rule, the alternatives that name it.
func (p *program) uses() (uses [][]int32, owner []int32) {
	uses = make([][]int32, len(p.rules))
	owner = make([]int32, len(p.symbols))
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
		return p.own.err
	}
	if !productive[p.start] {
		return fmt.Errorf("%w it", ErrUnsatisfiable)
	}
	for rule, starts := range p.rules {
		kept := starts[:0]
		for _, at := range starts {
			if p.fits(at, productive, nonEmpty) {
				kept = append(kept, at)
			}
		}
		p.rules[rule] = kept
	}
	p.productive = productive
	if p.own.err != nil {
		return p.own.err
	}
	nullable := p.fixpoint(func(s symbol) bool { return p.own.nullable(regexID(s.id)) }, uses, owner)
	return p.refuseLeftRecursion(nullable)
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
				return fmt.Errorf("%w: a rule begins with itself (left recursion)", ErrUnsupported)
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
