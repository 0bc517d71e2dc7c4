package grammar

import (
	"cmp"
	"fmt"
)

// schemaForm compiles a JSON schema of draft 4, 6, 7, 2019-09 or 2020-12. Every value that the grammar lets through fits
// the schema; a keyword that cannot be honoured is an error that names it and its place. Read in this order:
// schema_value.go (JSON that keeps its order), schema_node.go and schema_read.go (keywords), schema_logic.go (what does
// not fit a schema is a schema too), schema_conjunction.go (schemas that hold at once become rules), schema_object.go,
// schema_array.go, schema_number.go, schema_text.go, schema_pattern.go, schema_format.go.
func (p *program) schemaForm(v *Vocabulary, form Form) error {
	if len(form.Schema) > maxForm {
		return fmt.Errorf("%w: a schema of %d bytes (at most %d)", ErrTooComplex, len(form.Schema), maxForm)
	}
	root, err := parseValue(form.Schema)
	if err != nil {
		return err
	}
	s := &schema{
		p: p, json: jsonRules{p: p, terms: &v.terms, compact: form.Compact}, root: root, free: form.AnyOrder,
		byValue: map[*value]*node{}, anchors: map[string]*value{}, ids: map[string]*value{}, places: map[*value]string{},
		rules: map[string]int32{},
	}
	s.anything, s.nothing = s.newNode("#"), s.newNode("#")
	s.nothing.types = 0
	s.readDraft()
	s.index(root, "#")
	if id := cmp.Or(root.get("$id"), root.get("id")); id != nil {
		s.ids[id.text] = root
	}
	start := s.rule(s.node(root))
	for len(s.todo) > 0 && s.err == nil && p.own.err == nil {
		w := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.fill(w)
	}
	p.alternative(p.start, ruleSymbol(start))
	return s.err
}

// anyObject is the rule of any object.
func (s *schema) anyObject() int32 {
	s.rule()
	return s.json.object
}
