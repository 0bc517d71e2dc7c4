package grammar

import "fmt"

// list is what a conjunction says of arrays.
type list struct {
	prefix   [][]*node
	items    []*node
	contains []*node
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
		if n.contains != nil {
			l.contains = append(l.contains, n.contains)
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

// maxItems bounds the items that are counted one by one.
const maxItems = 1 << 14

// array adds the arrays of a conjunction.
func (s *schema) array(rule int32, c *conjunction) {
	l := s.list(c)
	switch {
	case l.most >= 0 && l.most < l.least:
		return
	case l.most > maxItems || l.least > maxItems || len(l.prefix) > maxItems:
		s.fail(fmt.Errorf("%w: at %s: an array of over %d counted items", ErrTooComplex, c.nodes[0].place, maxItems))
		return
	case l.unique != nil && (l.most < 0 || l.most > 1):
		s.unsupported(l.unique.place+"/uniqueItems", "uniqueItems in arrays of several items")
		return
	case len(l.contains) > 1:
		s.unsupported(c.nodes[0].place, "contains twice")
		return
	case len(c.excluded(typeArray)) > 0:
		s.unsupported(c.nodes[0].place, "the opposite of an array that enum or const lists")
		return
	}
	a := &arrayRules{s: s, list: l, rules: map[arrayPlace]int32{}}
	start := a.place(arrayPlace{found: len(l.contains) == 0})
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
	at    int  // items that came, as far as that matters
	found bool // one that is to be contained was among them
}

func (a *arrayRules) place(p arrayPlace) int32 {
	if last := max(len(a.list.prefix), a.list.least, 1); a.list.most < 0 && p.at > last {
		p.at = last
	}
	r, ok := a.rules[p]
	if !ok {
		r = a.s.p.rule()
		a.rules[p] = r
		a.todo = append(a.todo, p)
	}
	return r
}

func (a *arrayRules) fill(rule int32, p arrayPlace) {
	l, t := a.list, a.s.json.terms
	if p.at >= l.least && p.found {
		a.s.p.alternative(rule, t.closeList)
	}
	if l.most >= 0 && p.at >= l.most {
		return
	}
	says := l.items
	if p.at < len(l.prefix) {
		says = l.prefix[p.at]
	}
	a.item(rule, p, says, p.found)
	if !p.found {
		a.item(rule, p, append(says[:len(says):len(says)], l.contains...), true)
	}
}

func (a *arrayRules) item(rule int32, p arrayPlace, says []*node, found bool) {
	next := a.place(arrayPlace{p.at + 1, found})
	symbols := []symbol{ruleSymbol(a.s.rule(says...)), ruleSymbol(next)}
	if p.at > 0 {
		symbols = append([]symbol{a.s.json.terms.comma}, symbols...)
	}
	a.s.p.alternative(rule, a.s.json.spaced(symbols...)...)
}
