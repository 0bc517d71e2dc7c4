package grammar

import (
	"context"
	"fmt"
	"unicode/utf8"
)

// Form says what an answer must look like. Exactly one of JSON, Schema, Regex, Choice, GBNF and Tools is set, or Tools
// and one of the others: then an answer that makes no calls looks like the other.
type Form struct {
	JSON   bool     // any JSON value
	Schema string   // a JSON schema of draft 4 to 2020-12
	Regex  string   // a regular expression (RE2 syntax) that the whole answer matches
	Choice []string // one of these texts
	GBNF   string   // a grammar as llama.cpp reads it, which begins at the rule root
	Tools  *Tools   // calls of functions, in Gemma's own form

	// Thought lets a thought come before, which is free. The vocabulary must know the control tokens around it.
	Thought bool

	// Whitespace is what stands between the tokens of JSON.
	Whitespace Whitespace
	// AnyOrder lets the properties of a schema's objects come in any order. Without it they come in the order in which
	// the schema names them (in calls by name, as the model was trained), and others behind.
	AnyOrder bool
}

// Whitespace says what stands between the tokens of JSON.
type Whitespace int

const (
	AnyWhitespace Whitespace = iota // what the model sets, up to 128 characters in one place
	OneSpace                        // a space behind each comma and each colon
	NoWhitespace
)

// maxForm bounds the bytes of a form.
const maxForm = 1 << 24

// Compile makes a form ready for a vocabulary. It fails with ErrSyntax, ErrUnsupported, ErrUnsatisfiable or
// ErrTooComplex, or with the cause of a context that has ended.
func Compile(ctx context.Context, v *Vocabulary, form Form) (*Constraint, error) {
	p := newProgram(v)
	p.own.ended = func() error { return context.Cause(ctx) }
	defer func() { p.own.ended = nil }()
	if p.own.heed(); p.own.err != nil {
		return nil, p.own.err
	}
	p.start = p.rule()
	given := 0
	for _, one := range []bool{form.JSON, form.Schema != "", form.Regex != "", form.Choice != nil, form.GBNF != "",
		form.Tools != nil} {
		given += int(flag(one))
	}
	beside := form.Tools != nil && given == 2
	if given != 1 && !beside {
		return nil, fmt.Errorf("%w: %d forms were given; give one of JSON, Schema, Regex, Choice, GBNF and Tools",
			ErrSyntax, given)
	}
	var err error
	if form.Tools != nil {
		err = p.toolsForm(v, form, beside)
	} else {
		err = p.textForm(v, form)
	}
	if err == nil && form.Thought {
		err = p.thoughtFirst(v)
	}
	if err != nil {
		return nil, err
	}
	return newConstraint(v, p)
}

// textForm holds an answer in words.
func (p *program) textForm(v *Vocabulary, form Form) error {
	switch {
	case form.JSON:
		j := newJSONRules(p, v, form)
		p.alternative(p.start, ruleSymbol(j.any()))
		return nil
	case form.Schema != "":
		return p.schemaForm(v, form)
	case form.Regex != "":
		return p.regexForm(form.Regex)
	case form.GBNF != "":
		return p.gbnfForm(form.GBNF)
	}
	return p.choiceForm(form.Choice)
}

func (p *program) regexForm(text string) error {
	if len(text) > maxForm {
		return fmt.Errorf("%w: a pattern of %d bytes (at most %d)", ErrTooComplex, len(text), maxForm)
	}
	id, err := p.own.pattern(text)
	if err != nil {
		return err
	}
	p.alternative(p.start, ownTerm(id))
	return nil
}

func (p *program) choiceForm(texts []string) error {
	total := 0
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return fmt.Errorf("%w: the choice %.40q is not UTF-8", ErrSyntax, t)
		}
		if total += len(t) + 1; total > maxForm {
			return fmt.Errorf("%w: choices of more than %d bytes", ErrTooComplex, maxForm)
		}
	}
	p.alternative(p.start, ownTerm(p.own.literals(texts)))
	return nil
}
