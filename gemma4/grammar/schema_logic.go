package grammar

import "slices"

// after has a node completed when all nodes are read.
func (s *schema) after(n *node, do func()) {
	before := n.later
	n.later = func() {
		if before != nil {
			before()
		}
		do()
	}
}

// whole completes a node.
func (s *schema) whole(n *node) *node {
	if do := n.later; do != nil {
		n.later = nil
		do()
	}
	return n
}

// oneOf has exactly one of the schemas hold: where two may hold at once, one holds and the other does not.
func (s *schema) oneOf(n *node, list []*node) {
	alternatives := make([][]*node, len(list))
	for i, a := range list {
		alternatives[i] = []*node{a}
		for j, b := range list {
			if i != j && !s.disjoint(a, b, 0) {
				alternatives[i] = append(alternatives[i], s.not(b))
			}
		}
	}
	s.newChoice(n, alternatives...)
}

// maxDisjoint bounds how deep disjoint looks into properties.
const maxDisjoint = 3

// disjoint tells whether it is certain that no value fits both schemas.
func (s *schema) disjoint(a, b *node, depth int) bool {
	left, right := s.plain(a, nil), s.plain(b, nil)
	ta, tb := typesOf(left), typesOf(right)
	if ta&tb == 0 {
		return true
	}
	if ea, eb := enumOf(left), enumOf(right); ea != nil && eb != nil {
		return !slices.ContainsFunc(ea.list, eb.has)
	}
	if ta&tb != typeObject || depth >= maxDisjoint {
		return false
	}
	return s.propertiesDisjoint(left, right, depth) || s.propertiesDisjoint(right, left, depth)
}

// propertiesDisjoint tells whether a property that left requires is another in right, or none.
func (s *schema) propertiesDisjoint(left, right []*node, depth int) bool {
	for _, l := range left {
		for _, name := range l.required {
			for _, r := range right {
				other := r.property(name)
				if other == nil {
					if r.additional == s.nothing && len(r.patternProps) == 0 {
						return true
					}
					continue
				}
				for _, l := range left {
					if p := l.property(name); p != nil && s.disjoint(p, other, depth+1) {
						return true
					}
				}
			}
		}
	}
	return false
}

// plain lists a schema and all that hold with it, leaving choices aside.
func (s *schema) plain(n *node, list []*node) []*node {
	if slices.Contains(list, n) || len(list) > 64 {
		return list
	}
	list = append(list, n)
	for _, a := range n.all {
		list = s.plain(a, list)
	}
	return list
}

func typesOf(list []*node) types {
	t := typeAny
	for _, n := range list {
		t &= n.types
		if n.enum != nil {
			t &= typesOfValues(n.enum.list)
		}
	}
	return t
}

func enumOf(list []*node) *valueList {
	for _, n := range list {
		if n.enum != nil {
			return n.enum
		}
	}
	return nil
}

func typesOfValues(list []*value) (t types) {
	for _, v := range list {
		t |= v.types()
	}
	return t
}

// types is the type of a value.
func (v *value) types() types {
	switch v.kind {
	case valueNull:
		return typeNull
	case valueFalse:
		return typeFalse
	case valueTrue:
		return typeTrue
	case valueString:
		return typeString
	case valueArray:
		return typeArray
	case valueObject:
		return typeObject
	}
	if r, ok := exact(v.text); ok && r.IsInt() {
		return typeInteger
	}
	return typeFraction
}

// not is the schema of what does not fit n. It is made of schemas again: something that n says does not hold.
func (s *schema) not(n *node) *node {
	switch {
	case n == s.anything:
		return s.nothing
	case n == s.nothing:
		return s.anything
	case n.negation != nil:
		return n.negation
	}
	out := s.newNode(n.place)
	n.negation, out.negation = out, n
	s.after(out, func() { s.addNot(out, s.whole(n)) })
	return out
}

// addNot makes out the schema of what does not fit n.
func (s *schema) addNot(out, n *node) {
	var ways [][]*node
	way := func(t types) *node {
		w := s.newNode(n.place)
		w.types = t
		ways = append(ways, []*node{w})
		return w
	}
	if n.types != typeAny {
		way(typeAny &^ n.types)
	}
	if n.enum != nil {
		way(typeAny).notEnum.list = n.enum.list
	}
	if len(n.notEnum.list) > 0 {
		way(typeAny).enum = &valueList{list: n.notEnum.list}
	}
	s.notNumber(n, way)
	s.notString(n, way)
	s.notArray(n, way)
	s.notObject(n, way)
	for _, a := range n.all {
		ways = append(ways, []*node{s.not(a)})
	}
	for _, c := range n.choices {
		var none []*node
		for _, alternative := range c.alternatives {
			none = append(none, s.notAll(alternative))
		}
		ways = append(ways, none)
	}
	s.newChoice(out, ways...)
}

// notAll is the schema of what does not fit all of a list.
func (s *schema) notAll(list []*node) *node {
	if len(list) == 1 {
		return s.not(list[0])
	}
	out := s.newNode(list[0].place)
	ways := make([][]*node, len(list))
	for i, n := range list {
		ways[i] = []*node{s.not(n)}
	}
	s.newChoice(out, ways...)
	return out
}

func (s *schema) notNumber(n *node, way func(types) *node) {
	if n.least != nil {
		way(typeNumber).most = &bound{n.least.at, !n.least.strict}
	}
	if n.most != nil {
		way(typeNumber).least = &bound{n.most.at, !n.most.strict}
	}
	for _, m := range n.multiples {
		w := way(typeNumber)
		w.notMultiples = append(w.notMultiples, m)
	}
	for _, m := range n.notMultiples {
		w := way(typeNumber)
		w.multiples = append(w.multiples, m)
	}
}

func (s *schema) notString(n *node, way func(types) *node) {
	if n.minLen > 0 {
		way(typeString).maxLen = n.minLen - 1
	}
	if n.maxLen >= 0 {
		way(typeString).minLen = n.maxLen + 1
	}
	for _, p := range n.patterns {
		p.not = !p.not
		w := way(typeString)
		w.patterns = append(w.patterns, p)
	}
}

func (s *schema) notArray(n *node, way func(types) *node) {
	if n.minItems > 0 {
		way(typeArray).maxItems = n.minItems - 1
	}
	if n.maxItems >= 0 {
		way(typeArray).minItems = n.maxItems + 1
	}
	for i, item := range n.prefix {
		if item == s.anything {
			continue
		}
		w := way(typeArray)
		w.minItems = i + 1
		for range i {
			w.prefix = append(w.prefix, s.anything)
		}
		w.prefix = append(w.prefix, s.not(item))
	}
	if n.items != nil && n.items != s.anything {
		way(typeArray).contains = []contained{{node: s.not(n.items), least: 1, most: -1, from: len(n.prefix)}}
	}
	for _, c := range n.contains {
		if c.least == 1 && c.from == 0 {
			way(typeArray).items = s.not(c.node)
		} else if c.least > 0 {
			way(typeArray).contains = []contained{{node: c.node, most: c.least - 1, from: c.from}}
		}
		if c.most >= 0 {
			way(typeArray).contains = []contained{{node: c.node, least: c.most + 1, most: -1, from: c.from}}
		}
	}
	if n.unique {
		way(typeArray).refusal = "the opposite of uniqueItems (in not, if or oneOf)"
	}
}

// additionalNames are the names that additionalProperties speaks of.
func (s *schema) additionalNames(n *node) stringPattern {
	r := s.p.own
	names := make([]string, len(n.props))
	for i, p := range n.props {
		names[i] = s.spelling.bare(p.name)
	}
	list := []regexID{r.not(r.literals(names))}
	for _, p := range n.patternProps {
		list = append(list, r.unless(p.pattern.id, !p.pattern.not))
	}
	return stringPattern{id: r.and(list...)}
}

func (s *schema) notObject(n *node, way func(types) *node) {
	for _, name := range n.required {
		w := way(typeObject)
		w.props = []property{{name, s.nothing}}
	}
	for _, p := range n.props {
		if p.node == s.anything {
			continue
		}
		w := way(typeObject)
		w.required, w.props = []string{p.name}, []property{{p.name, s.not(p.node)}}
	}
	if n.minProps > 0 {
		way(typeObject).maxProps = n.minProps - 1
	}
	if n.maxProps >= 0 {
		way(typeObject).minProps = n.maxProps + 1
	}
	if n.additional != nil && n.additional != s.anything {
		way(typeObject).some = []someProperty{{s.additionalNames(n), s.not(n.additional)}}
	}
	for _, p := range n.patternProps {
		if p.node != s.anything {
			way(typeObject).some = []someProperty{{p.pattern, s.not(p.node)}}
		}
	}
	if n.names != nil && n.names != s.anything {
		other := stringPattern{id: s.p.own.not(s.nameContent(n.names))}
		way(typeObject).some = []someProperty{{other, s.anything}}
	}
	for _, some := range n.some {
		way(typeObject).patternProps = []patternProperty{{some.pattern, s.not(some.node)}}
	}
	if n.refusal != "" {
		way(n.types).refusal = n.refusal
	}
}
