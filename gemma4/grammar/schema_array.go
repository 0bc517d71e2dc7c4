package grammar

import (
	"slices"
)

// list is what a conjunction says of arrays.
type list struct {
	prefix   [][]*node
	items    []*node
	contains []contained
	least    int
	most     int // < 0: no bound
	unique   *node
}

func (s *schema) list(c *conjunction) *list {
	l := &list{most: -1}
	length := 0
	for _, n := range c.nodes {
		length = max(length, len(n.prefix))
		l.least = max(l.least, n.minItems)
		if n.maxItems >= 0 && (l.most < 0 || n.maxItems < l.most) {
			l.most = n.maxItems
		}
		if n.items != nil {
			l.items = append(l.items, n.items)
		}
		for _, one := range n.contains {
			if (one.least > 0 || one.most >= 0) && !slices.Contains(l.contains, one) {
				l.contains = append(l.contains, one)
			}
		}
		if n.unique {
			l.unique = n
		}
	}
	l.prefix = make([][]*node, length)
	for i := range l.prefix {
		for _, n := range c.nodes {
			if i < len(n.prefix) {
				l.prefix[i] = append(l.prefix[i], n.prefix[i])
			} else if n.items != nil {
				l.prefix[i] = append(l.prefix[i], n.items)
			}
		}
	}
	return l
}

// maxItems bounds the items that are counted one by one, maxContains the schemas whose items are counted.
const (
	maxItems    = 1 << 14
	maxContains = 4
)

// array adds the arrays of a conjunction.
func (s *schema) array(rule int32, c *conjunction) {
	l := s.list(c)
	counted := max(l.most, l.least, len(l.prefix))
	for _, one := range l.contains {
		counted = max(counted, one.least, one.most, one.from)
	}
	place := c.nodes[0].place
	switch {
	case l.most >= 0 && l.most < l.least:
		return
	case counted > maxItems:
		s.tooComplex(place, "an array of over %d counted items", maxItems)
		return
	case len(l.contains) > maxContains:
		s.unsupported(place, "over %d schemas that items are counted by (contains)", maxContains)
		return
	case len(c.excluded(typeArray)) > 0:
		s.unsupported(place, "the opposite of an array that enum or const lists")
		return
	}
	if l.unique != nil && (l.most < 0 || l.most > 1) {
		s.uniqueArray(rule, l)
		return
	}
	a := &arrayRules{s: s, list: l, rules: map[arrayPlace]int32{}}
	start := a.place(arrayPlace{})
	s.p.alternative(rule, s.json.spaced(s.json.terms.openList, ruleSymbol(start))...)
	for len(a.todo) > 0 && s.err == nil {
		p := a.todo[0]
		a.todo = a.todo[1:]
		a.fill(a.rules[p], p)
	}
}

// arrayRules makes the rules of one kind of arrays: one for each place between their items.
type arrayRules struct {
	s     *schema
	list  *list
	rules map[arrayPlace]int32
	todo  []arrayPlace
}

// arrayPlace is a place between items.
type arrayPlace struct {
	at    int              // items that came, as far as that matters
	found [maxContains]int // those of them that are counted, as far as that matters
}

func (a *arrayRules) place(p arrayPlace) int32 {
	last := max(len(a.list.prefix), a.list.least, 1)
	for _, one := range a.list.contains {
		last = max(last, one.from)
	}
	if a.list.most < 0 && p.at > last {
		p.at = last
	}
	for i, one := range a.list.contains {
		if one.most < 0 {
			p.found[i] = min(p.found[i], one.least)
		}
	}
	r, ok := a.rules[p]
	if !ok {
		r = a.s.p.rule()
		a.rules[p] = r
		a.todo = append(a.todo, p)
		if len(a.s.p.rules) > maxRules {
			a.s.tooManyRules(a.s.at, "the counts of its items")
		}
	}
	return r
}

func (a *arrayRules) fill(rule int32, p arrayPlace) {
	l, t := a.list, a.s.json.terms
	enough := p.at >= l.least
	for i, one := range l.contains {
		enough = enough && p.found[i] >= one.least
	}
	if enough {
		a.s.p.alternative(rule, t.closeList)
	}
	if l.most >= 0 && p.at >= l.most {
		return
	}
	for set := range 1 << len(l.contains) {
		if says, next, ok := a.counted(p, set); ok {
			a.item(rule, p, says, next)
		}
	}
}

// counted is what holds for an item that is counted by a set of schemas, and the place behind it. It is not ok where
// there is no such item.
func (a *arrayRules) counted(p arrayPlace, set int) (says []*node, next arrayPlace, ok bool) {
	l := a.list
	says = l.items
	if p.at < len(l.prefix) {
		says = l.prefix[p.at]
	}
	says = slices.Clone(says)
	next = arrayPlace{p.at + 1, p.found}
	for i, one := range l.contains {
		due := p.at >= one.from && (one.most >= 0 || p.found[i] < one.least)
		switch in := set>>i&1 == 1; {
		case in && (!due || one.most >= 0 && p.found[i] >= one.most):
			return nil, next, false
		case in:
			says = append(says, one.node)
			next.found[i]++
		case due && one.most >= 0:
			says = append(says, a.s.not(one.node))
		}
	}
	return says, next, true
}

func (a *arrayRules) item(rule int32, p arrayPlace, says []*node, next arrayPlace) {
	symbols := []symbol{ruleSymbol(a.s.rule(says...)), ruleSymbol(a.place(next))}
	if p.at > 0 {
		symbols = append([]symbol{a.s.json.terms.comma}, symbols...)
	}
	a.s.p.alternative(rule, a.s.json.spaced(symbols...)...)
}
