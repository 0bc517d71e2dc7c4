package grammar

import (
	"encoding/binary"
	"slices"
)

// conjunction is a list of schemas that all hold, in the order in which they were met. All that they refer to is in it;
// of their choices those that are still open.
type conjunction struct {
	nodes []*node
	open  []*choice
	// impossible: a schema holds here, and so does its opposite.
	impossible bool
}

// maxConjunction bounds the schemas that hold at once.
const maxConjunction = 1 << 10

// add adds a schema and all that hold with it.
func (s *schema) add(c *conjunction, n *node) {
	if n == s.anything || slices.Contains(c.nodes, n) {
		return
	}
	if len(c.nodes) >= maxConjunction {
		s.tooComplex(n.place, "over %d schemas hold at once", maxConjunction)
		return
	}
	s.whole(n)
	c.nodes = append(c.nodes, n)
	c.impossible = c.impossible || n.negation != nil && slices.Contains(c.nodes, n.negation)
	for _, one := range n.choices {
		if len(one.alternatives) != 1 {
			c.open = append(c.open, one)
			continue
		}
		for _, only := range one.alternatives[0] {
			s.add(c, only)
		}
	}
	for _, a := range n.all {
		s.add(c, a)
	}
}

func (s *schema) conjunction(list []*node) *conjunction {
	c := &conjunction{}
	for _, n := range list {
		s.add(c, n)
	}
	return c
}

// with is the conjunction in which a choice has been made.
func (s *schema) with(c *conjunction, chosen int, alternative []*node) *conjunction {
	out := &conjunction{nodes: slices.Clone(c.nodes), impossible: c.impossible}
	out.open = append(slices.Clone(c.open[:chosen]), c.open[chosen+1:]...)
	for _, n := range alternative {
		s.add(out, n)
	}
	return out
}

func (c *conjunction) key() string {
	k := binary.AppendUvarint(nil, uint64(len(c.nodes)))
	for _, n := range c.nodes {
		k = binary.AppendUvarint(k, uint64(n.id))
	}
	for _, o := range c.open {
		k = binary.AppendUvarint(k, uint64(o.id))
	}
	return string(k)
}

// place is where the first of the schemas stands.
func (c *conjunction) place() string {
	if len(c.nodes) == 0 {
		return "#"
	}
	return c.nodes[0].place
}

func (c *conjunction) types() types {
	if c.impossible {
		return 0
	}
	return typesOf(c.nodes)
}

// lacksRequired tells whether all that fits are objects with a property for which no value is left. So of many if, each
// of which asks for another value of one property, no more than one is followed at a time.
func (s *schema) lacksRequired(c *conjunction) bool {
	if c.types() != typeObject {
		return false
	}
	for _, n := range c.nodes {
		for _, name := range n.required {
			if s.noValue(c, name) {
				return true
			}
		}
	}
	return false
}

// noValue tells whether it is plain that no value fits a property.
func (s *schema) noValue(c *conjunction, name string) bool {
	says := s.saysOf(c, name)
	if len(says) < 2 {
		return len(says) == 1 && says[0] == s.nothing
	}
	value := s.conjunction(says)
	key := value.key()
	none, known := s.empty[key]
	if !known {
		list, listed := s.values(value)
		none = value.types() == 0 || listed && len(list) == 0
		s.empty[key] = none
	}
	return none
}

// values lists the values that an enum or const leaves.
func (s *schema) values(c *conjunction) (list []*value, listed bool) {
	from := enumOf(c.nodes)
	if from == nil {
		return nil, false
	}
	list = []*value{}
	for _, v := range from.list {
		fits := true
		for _, n := range c.nodes {
			fits = fits && s.fits(n, v, 0)
		}
		if fits {
			list = append(list, v)
		}
	}
	return list, true
}

// work is a rule to be filled.
type work struct {
	rule int32
	of   *conjunction
}

// maxRules bounds the rules of one schema.
const maxRules = 1 << 17

// rule is the rule of the values that fit a list of schemas.
func (s *schema) rule(list ...*node) int32 { return s.ruleOf(s.conjunction(list)) }

func (s *schema) ruleOf(c *conjunction) int32 {
	k := c.key()
	if r, ok := s.rules[k]; ok {
		return r
	}
	if len(s.p.rules) > maxRules {
		s.tooManyRules(c.place(), "what holds with it")
	}
	if len(c.nodes) == 0 {
		s.rules[k] = s.json.any()
		return s.rules[k]
	}
	r := s.p.rule()
	s.rules[k] = r
	s.p.places[r] = c.place()
	s.p.made[r] = c
	s.todo = append(s.todo, work{r, c})
	return r
}

// fill makes the alternatives of a rule.
func (s *schema) fill(w work) {
	c := w.of
	t := c.types()
	if t == 0 {
		return
	}
	if list, listed := s.values(c); listed {
		s.literals(w.rule, list)
		return
	}
	if len(c.open) > 0 {
		for _, alternative := range c.open[0].alternatives {
			if next := s.with(c, 0, alternative); next.types() != 0 && !s.lacksRequired(next) {
				s.p.alternative(w.rule, ruleSymbol(s.ruleOf(next)))
			}
		}
		return
	}
	for _, n := range c.nodes {
		if n.refusal != "" && t&n.types != 0 {
			s.unsupported(n.place, "%s", n.refusal)
			return
		}
	}
	s.scalars(w.rule, c, t)
	if t&typeArray != 0 {
		s.array(w.rule, c)
	}
	if t&typeObject != 0 {
		s.object(w.rule, c)
	}
}

// scalars adds the values of a conjunction that are no arrays and no objects.
func (s *schema) scalars(rule int32, c *conjunction, t types) {
	base := s.json.terms
	for _, one := range []struct {
		of   types
		term symbol
		text string
	}{{typeNull, base.null, "null"}, {typeTrue, base.yes, "true"}, {typeFalse, base.no, "false"}} {
		if t&one.of != 0 && !c.excludes(&value{kind: kindOf(one.of)}) {
			s.p.alternative(rule, one.term)
		}
	}
	if t&typeNumber != 0 {
		s.p.alternative(rule, s.number(c, t))
	}
	if t&typeString != 0 {
		s.p.alternative(rule, s.text(c))
	}
}

func kindOf(t types) valueKind {
	switch t {
	case typeTrue:
		return valueTrue
	case typeFalse:
		return valueFalse
	}
	return valueNull
}

// excludes tells whether a value is one of those that are not wanted.
func (c *conjunction) excludes(v *value) bool {
	return slices.ContainsFunc(c.nodes, func(n *node) bool { return n.notEnum.has(v) })
}

// excluded lists the values of one type that are not wanted.
func (c *conjunction) excluded(t types) (list []*value) {
	for _, n := range c.nodes {
		for _, v := range n.notEnum.list {
			if v.types()&t != 0 {
				list = append(list, v)
			}
		}
	}
	return list
}

// literals adds listed values.
func (s *schema) literals(rule int32, list []*value) {
	var texts []string
	for _, v := range list {
		switch v.kind {
		case valueArray, valueObject:
			s.p.alternative(rule, s.json.spaced(s.literal(v)...)...)
		case valueNumber:
			texts = append(texts, v.text)
			if r, ok := exact(v.text); ok && r.IsInt() {
				texts = append(texts, r.Num().String())
			}
		default:
			texts = append(texts, s.scalar(v)...)
		}
	}
	if len(texts) > 0 {
		s.p.alternative(rule, ownTerm(s.p.own.literals(texts)))
	}
}

// scalar is the ways to write a value that is no array and no object.
func (s *schema) scalar(v *value) []string {
	switch v.kind {
	case valueNull:
		return s.spelling.nulls()
	case valueFalse:
		return []string{"false"}
	case valueTrue:
		return []string{"true"}
	case valueString:
		return []string{s.spelling.quoted(v.text)}
	}
	return []string{v.text}
}

// literal is a value as symbols, between which there may be whitespace.
func (s *schema) literal(v *value) (out []symbol) {
	base := s.json.terms
	switch v.kind {
	case valueArray:
		out = append(out, base.openList)
		for i, item := range v.items {
			if i > 0 {
				out = append(out, base.comma)
			}
			out = append(out, s.literal(item)...)
		}
		return append(out, base.closeList)
	case valueObject:
		if s.free && len(v.keys) > 1 {
			return []symbol{ruleSymbol(s.literalObject(v))}
		}
		out = append(out, base.open)
		for i, at := range s.spelling.order(v.keys) {
			if i > 0 {
				out = append(out, base.comma)
			}
			key := ownTerm(s.p.own.literal(s.spelling.key(v.keys[at])))
			out = append(append(out, key, base.colon), s.literal(v.items[at])...)
		}
		return append(out, base.close)
	}
	return []symbol{ownTerm(s.p.own.literals(s.scalar(v)))}
}

// literalObject is the rule of a listed object whose members come in any order.
func (s *schema) literalObject(v *value) int32 {
	m := &members{most: len(v.keys), least: len(v.keys)}
	for i, name := range v.keys {
		rule := s.p.rule()
		s.p.alternative(rule, s.json.spaced(s.literal(v.items[i])...)...)
		key := ownTerm(s.p.own.literal(s.spelling.key(name)))
		m.named = append(m.named, member{key: key, values: []memberValue{{rule: rule}}, required: true})
	}
	rule := s.p.rule()
	s.objectOf(rule, m)
	return rule
}
