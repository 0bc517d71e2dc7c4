package grammar

import (
	"fmt"
	"net/url"
)

// schemaForm compiles a JSON schema of draft 4, 6, 7, 2019-09 or 2020-12. Every value that the grammar lets through
// fits the schema; a keyword that cannot be honoured is an error that names it and its place. Read in this order:
// schema_value.go (JSON that keeps its order), schema_node.go, schema_read.go and schema_ref.go (keywords),
// schema_logic.go (what does not fit a schema is a schema too), schema_conjunction.go (schemas that hold at once
// become rules), schema_object.go, schema_array.go, schema_unique.go, schema_number.go, schema_text.go,
// schema_pattern.go, schema_format.go.
func (p *program) schemaForm(v *Vocabulary, form Form) error {
	s := &schema{p: p, json: newJSONRules(p, v, form), free: form.AnyOrder}
	rule, err := s.compile(form.Schema)
	p.alternative(p.start, ruleSymbol(rule))
	return err
}

// compile makes the rule of a schema, whose root is an object where the schema is that of a call.
func (s *schema) compile(text string) (start int32, err error) {
	if len(text) > maxForm {
		return 0, fmt.Errorf("%w: a schema of %d bytes (at most %d)", ErrTooComplex, len(text), maxForm)
	}
	if err := wholeText(text); err != nil {
		return 0, err
	}
	root, err := parseValue(text)
	if err != nil {
		return 0, err
	}
	s.root = root
	s.byValue, s.targets, s.walked = map[*value]*node{}, newTargets(), map[*value]int8{}
	s.fitted = map[fitKey]bool{}
	s.places, s.rules = map[*value]string{}, map[string]int32{}
	s.empty = map[string]bool{}
	s.anything, s.nothing = s.newNode("#"), s.newNode("#") // of which the second has nothingID
	s.nothing.types = 0
	s.readDraft()
	s.targets.named[""] = root
	s.index(root, "#", &url.URL{}, true)
	top := []*node{s.node(root)}
	if s.spelling.call {
		object := s.newNode("#")
		object.types = typeObject
		top = append(top, object)
	}
	start = s.rule(top...)
	for s.check("#"); len(s.todo) > 0 && s.err == nil; {
		w := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.at = w.of.place()
		s.p.own.heed()
		s.fill(w)
		s.check(s.at)
	}
	return start, s.err
}

// anyObject is the rule of any object.
func (s *schema) anyObject() int32 {
	s.rule()
	return s.json.object
}
