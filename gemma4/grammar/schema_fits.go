package grammar

import (
	"math/big"
	"slices"
	"unicode/utf8"
)

// maxFits bounds how deep values and schemas are followed; only schemas that refer to themselves go deeper.
const maxFits = 256

// maxFitted bounds how many values are held to schemas, each counted with each of its schemas.
const maxFitted = 1 << 20

// fitKey is a question that fits has answered. Schemas that others refer to by many ways are asked once.
type fitKey struct {
	node  int32
	value *value
}

// fits tells whether a value fits a schema and all that holds with it.
func (s *schema) fits(n *node, v *value, depth int) bool {
	key := fitKey{n.id, v}
	if known, ok := s.fitted[key]; ok {
		return known
	}
	if s.p.own.heed(); s.p.own.err != nil || s.err != nil {
		return false
	}
	if len(s.fitted) >= maxFitted {
		s.tooComplex(n.place, "more than %d values are held to schemas", maxFitted)
		return false
	}
	if depth > maxFits {
		s.unsupported(n.place, "a schema that refers to itself without end")
		return false
	}
	s.whole(n)
	s.fitted[key] = s.fitsNode(n, v, depth)
	return s.fitted[key]
}

func (s *schema) fitsNode(n *node, v *value, depth int) bool {
	t := v.types()
	if n.types&t == 0 || n.enum != nil && !n.enum.has(v) || n.notEnum.has(v) {
		return false
	}
	if n.refusal != "" {
		s.unsupported(n.place, "%s", n.refusal)
	}
	switch {
	case t&typeNumber != 0 && !fitsNumber(n, v), t == typeString && !s.fitsString(n, v),
		t == typeArray && !s.fitsArray(n, v, depth), t == typeObject && !s.fitsObject(n, v, depth):
		return false
	}
	for _, a := range n.all {
		if !s.fits(a, v, depth+1) {
			return false
		}
	}
	for _, c := range n.choices {
		if !s.fitsChoice(c, v, depth) {
			return false
		}
	}
	return true
}

func (s *schema) fitsChoice(c *choice, v *value, depth int) bool {
	for _, alternative := range c.alternatives {
		if !slices.ContainsFunc(alternative, func(n *node) bool { return !s.fits(n, v, depth+1) }) {
			return true
		}
	}
	return false
}

func fitsNumber(n *node, v *value) bool {
	r, ok := exact(v.text)
	if !ok {
		return false
	}
	if n.least != nil && (r.Cmp(n.least.at) < 0 || n.least.strict && r.Cmp(n.least.at) == 0) ||
		n.most != nil && (r.Cmp(n.most.at) > 0 || n.most.strict && r.Cmp(n.most.at) == 0) {
		return false
	}
	multiple := func(m *big.Rat) bool { return new(big.Rat).Quo(r, m).IsInt() }
	return !slices.ContainsFunc(n.multiples, func(m *big.Rat) bool { return !multiple(m) }) &&
		!slices.ContainsFunc(n.notMultiples, multiple)
}

func (s *schema) fitsString(n *node, v *value) bool {
	length := utf8.RuneCountInString(v.text)
	if length < n.minLen || n.maxLen >= 0 && length > n.maxLen {
		return false
	}
	for _, p := range n.patterns {
		if !s.matches(p, v.text) {
			return false
		}
	}
	return true
}

// matches tells whether a text matches a pattern, or does not where that is asked for.
func (s *schema) matches(p stringPattern, text string) bool {
	id := p.id
	for _, b := range []byte(s.spelling.bare(text)) {
		id = s.p.own.derive(id, b)
	}
	return s.p.own.nullable(id) != p.not
}

func (s *schema) fitsArray(n *node, v *value, depth int) bool {
	if len(v.items) < n.minItems || n.maxItems >= 0 && len(v.items) > n.maxItems {
		return false
	}
	for i, item := range v.items {
		if i < len(n.prefix) {
			if !s.fits(n.prefix[i], item, depth+1) {
				return false
			}
		} else if n.items != nil && !s.fits(n.items, item, depth+1) {
			return false
		}
	}
	if n.unique && !different(v.items) {
		return false
	}
	for _, c := range n.contains {
		found := 0
		for _, item := range v.items[min(c.from, len(v.items)):] {
			found += int(flag(s.fits(c.node, item, depth+1)))
		}
		if found < c.least || c.most >= 0 && found > c.most {
			return false
		}
	}
	return true
}

func (s *schema) fitsObject(n *node, v *value, depth int) bool {
	if len(v.items) < n.minProps || n.maxProps >= 0 && len(v.items) > n.maxProps {
		return false
	}
	for _, name := range n.required {
		if v.get(name) == nil {
			return false
		}
	}
	for i, name := range v.keys {
		for _, p := range s.sayOf(n, name) {
			if !s.fits(p, v.items[i], depth+1) {
				return false
			}
		}
		if n.names != nil && !s.fits(n.names, &value{kind: valueString, text: name}, depth+1) {
			return false
		}
	}
	for _, some := range n.some {
		found := false
		for i, name := range v.keys {
			found = found || s.matches(some.pattern, name) && s.fits(some.node, v.items[i], depth+1)
		}
		if !found {
			return false
		}
	}
	return true
}

// sayOf lists what a schema says of the property of a name.
func (s *schema) sayOf(n *node, name string) (list []*node) {
	if p := n.property(name); p != nil {
		list = append(list, p)
	}
	for _, p := range n.patternProps {
		if s.matches(p.pattern, name) {
			list = append(list, p.node)
		}
	}
	if list == nil && n.additional != nil {
		list = []*node{n.additional}
	}
	return list
}
