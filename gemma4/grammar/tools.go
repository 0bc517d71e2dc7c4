package grammar

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Tools are functions that an answer may call, in Gemma's own form:
//
//	<|tool_call>call:NAME{key:<|"|>text<|"|>,n:1.5,l:[true,None],o:{}}<tool_call|>
//
// Arguments fit the schema of the function's parameters. Beyond what the schema says, objects that name their
// properties and say nothing of others have no others.
type Tools struct {
	Declarations []Declaration
	Choice       ToolChoice
	// Name is the function that must be called, with ToolNamed.
	Name string
	// Parallel allows several calls in one answer. Without it there is one.
	Parallel bool
}

// Declaration is one function.
type Declaration struct {
	Name       string
	Parameters string // JSON schema of an object; "" for a function without parameters
}

// ToolChoice says whether an answer calls.
type ToolChoice int

// The choices.
const (
	ToolAuto     ToolChoice = iota // free text, then calls or none
	ToolNone                       // free text alone
	ToolRequired                   // calls alone, of any function
	ToolNamed                      // calls alone, of one function
)

// toolsForm holds an answer to calls, or to text where the choice allows it: any text, or what the form says beside.
func (p *program) toolsForm(v *Vocabulary, form Form, beside bool) error {
	if err := v.needControls("a call is written with"); err != nil {
		return err
	}
	tools := form.Tools
	declared, err := tools.chosen()
	if err != nil {
		return err
	}
	mayWrite := tools.Choice == ToolNone || tools.Choice == ToolAuto
	switch {
	case mayWrite && beside:
		if err := p.textForm(v, form); err != nil {
			return err
		}
	case mayWrite:
		p.alternative(p.start, v.freeText)
	}
	if len(declared) == 0 {
		return nil
	}
	call, more := p.rule(), p.rule()
	rules := make([]int32, len(declared))
	marker := func(b byte) symbol { return ownTerm(p.own.marker(b)) }
	for i, d := range declared {
		arguments, err := p.arguments(v, form, d)
		if err != nil {
			return err
		}
		rules[i] = arguments
		p.alternative(call, ownTerm(p.own.literal(string([]byte{callOpen})+"call:"+d.Name)), ruleSymbol(arguments),
			marker(callClose))
	}
	p.alternative(more)
	p.alternative(more, marker(responseOpen))
	if tools.Parallel {
		p.alternative(more, ruleSymbol(call), ruleSymbol(more))
	}
	if tools.Choice == ToolAuto && !beside {
		p.alternative(p.start, v.freeText, ruleSymbol(call), ruleSymbol(more))
	} else {
		p.alternative(p.start, ruleSymbol(call), ruleSymbol(more))
	}
	if mayWrite {
		return nil
	}
	return p.needCallable(declared, rules)
}

// needCallable refuses functions none of which can be called, as no arguments fit, and names the first.
func (p *program) needCallable(declared []Declaration, rules []int32) error {
	uses, owner := p.uses()
	productive := p.fixpoint(func(s symbol) bool { return p.own.nonEmpty(regexID(s.id)) }, uses, owner)
	if p.own.err != nil {
		return nil // which is found where the program is finished
	}
	for _, rule := range rules {
		if productive[rule] {
			return nil
		}
	}
	start := p.start
	defer func() { p.start = start }()
	p.start = rules[0]
	return &FunctionError{declared[0].Name, p.contradiction(productive)}
}

// FunctionError is why the arguments of a function cannot be held to its parameters.
type FunctionError struct {
	Name string
	Err  error
}

func (e *FunctionError) Error() string {
	return fmt.Sprintf("the parameters of the function %q: %v", e.Name, e.Err)
}

func (e *FunctionError) Unwrap() error { return e.Err }

// chosen lists the functions that may be called.
func (t *Tools) chosen() (list []Declaration, err error) {
	seen := map[string]bool{}
	for _, d := range t.Declarations {
		if d.Name == "" || !utf8.ValidString(d.Name) || strings.ContainsAny(d.Name, `{"`) ||
			d.Name != strings.TrimFunc(d.Name, callSpace) {
			return nil, fmt.Errorf("%w: a function cannot be called %q", ErrSyntax, d.Name)
		}
		if seen[d.Name] {
			return nil, fmt.Errorf("%w: the function %q is declared twice", ErrSyntax, d.Name)
		}
		seen[d.Name] = true
		if t.Choice == ToolAuto || t.Choice == ToolRequired || t.Choice == ToolNamed && d.Name == t.Name {
			list = append(list, d)
		}
	}
	switch {
	case t.Choice < ToolAuto || t.Choice > ToolNamed:
		return nil, fmt.Errorf("%w: there is no tool choice %d", ErrChoice, t.Choice)
	case t.Choice == ToolRequired && len(list) == 0:
		return nil, fmt.Errorf("%w: a call is required, and no function is declared", ErrChoice)
	case t.Choice == ToolNamed && len(list) == 0:
		return nil, fmt.Errorf("%w: a call of %q is required, which is not declared (declared: %s)", ErrChoice, t.Name,
			t.names())
	}
	return list, nil
}

// names are the functions that are declared, for an error.
func (t *Tools) names() string {
	const most = 10
	var names []string
	for i, d := range t.Declarations {
		if i == most {
			names = append(names, fmt.Sprintf("%d others", len(t.Declarations)-most))
			break
		}
		names = append(names, fmt.Sprintf("%.100q", d.Name))
	}
	if len(names) == 0 {
		return "no functions"
	}
	return strings.Join(names, ", ")
}

// arguments is the rule of the arguments of a function.
func (p *program) arguments(v *Vocabulary, form Form, d Declaration) (int32, error) {
	s := &schema{p: p, json: jsonRules{p: p, terms: &v.callTerms, fixed: true}, free: form.AnyOrder,
		spelling: spelling{call: true}}
	rule, err := s.compile(cmp.Or(strings.TrimSpace(d.Parameters), `{"maxProperties": 0}`))
	if err == nil {
		err = p.own.err
	}
	if err != nil {
		return 0, &FunctionError{d.Name, err}
	}
	return rule, nil
}
