package grammar

import (
	"encoding/binary"
	"slices"
)

// member is a property that an object may have.
type member struct {
	key      symbol // its name, in quotes
	values   []memberValue
	required bool
}

// memberValue is one way of a member's value.
type memberValue struct {
	rule  int32
	finds uint8 // which of the properties it is that an object must have some of, as bits
}

// members are the properties of the objects of a conjunction: those with names in the order in which the schemas name
// them, and what is said of all others, by what matches their names.
type members struct {
	named  []member
	others []member
	least  int
	most   int   // < 0: no bound
	some   uint8 // the properties that an object must have some of, as bits
}

// maxSome bounds the schemas that one property must fit each.
const maxSome = 4

// counted is a number of members as far as it matters: beyond both bounds all are the same.
func (m *members) counted(n int) int { return min(n, max(m.least, m.most+1)) }

// member is a member of an object and the rule of what comes behind it. Behind another one it begins with a comma.
func (j *jsonRules) member(key symbol, value int32, behind bool, rest int32) []symbol {
	symbols := []symbol{key, j.terms.colon, ruleSymbol(value), ruleSymbol(rest)}
	if behind {
		symbols = append([]symbol{j.terms.comma}, symbols...)
	}
	return j.spaced(symbols...)
}

// maxPatterns bounds the patterns of property names in one conjunction: each set of them is a case of its own.
const maxPatterns = 6

func (s *schema) members(c *conjunction) *members {
	m := &members{most: -1}
	some := s.some(c)
	m.some = uint8(1<<len(some) - 1)
	var names []string
	var required []string
	for _, n := range c.nodes {
		for _, p := range n.props {
			names = append(names, p.name)
		}
		required = append(required, n.required...)
		m.least = max(m.least, n.minProps)
		if n.maxProps >= 0 && (m.most < 0 || n.maxProps < m.most) {
			m.most = n.maxProps
		}
	}
	required = once(required)
	names = once(append(names, required...))
	if m.least > len(required)+1 {
		names = once(append(names, s.listedNames(c)...))
	}
	needed := make(map[string]bool, len(required))
	for _, name := range required {
		needed[name] = true
	}
	for _, at := range s.spelling.order(names) {
		name := names[at]
		if !s.allowedName(c, name) {
			s.nameless(m, c, needed[name])
			continue
		}
		says := s.saysOf(c, name)
		if needed[name] && slices.Contains(says, s.nothing) {
			s.nameless(m, c, true)
			continue
		}
		key := ownTerm(s.p.own.literal(s.spelling.key(name)))
		found := s.found(some, func(p stringPattern) bool { return s.matches(p, name) })
		m.named = append(m.named, member{key, s.memberValues(says, some, found), needed[name]})
	}
	if !s.spelling.call || len(m.named) < m.least || len(m.named) == 0 || c.saysOfOthers() {
		s.others(m, c, names, some)
	}
	if len(m.others) > 0 && m.least > len(required)+1 {
		s.unsupported(c.minPropsPlace(), "minProperties %d where an object may have properties that the schema does not "+
			"name: one name could come twice, and counts once when the answer is read. List the names in properties or in the "+
			"enum of propertyNames, with additionalProperties false", m.least)
	}
	return m
}

// saysOf lists what a conjunction says of a property by its name.
func (s *schema) saysOf(c *conjunction, name string) (says []*node) {
	for _, n := range c.nodes {
		says = append(says, s.sayOf(n, name)...)
	}
	return says
}

// listedNames are the names that propertyNames lists.
func (s *schema) listedNames(c *conjunction) (names []string) {
	for _, n := range c.nodes {
		if n.names == nil {
			continue
		}
		list, _ := s.values(s.conjunction([]*node{n.names}))
		for _, v := range list {
			if v.kind == valueString {
				names = append(names, v.text)
			}
		}
	}
	return names
}

// minPropsPlace is where the schema stands that asks for the most properties.
func (c *conjunction) minPropsPlace() string {
	most := c.nodes[0]
	for _, n := range c.nodes {
		if n.minProps > most.minProps {
			most = n
		}
	}
	return most.place
}

// some lists the properties that the objects of a conjunction must have some of.
func (s *schema) some(c *conjunction) (list []someProperty) {
	for _, n := range c.nodes {
		for _, one := range n.some {
			if !slices.Contains(list, one) {
				list = append(list, one)
			}
		}
	}
	if len(list) > maxSome {
		s.unsupported(c.nodes[0].place, "over %d opposites of what is said of all properties", maxSome)
		return nil
	}
	return list
}

// found is the set of those of a list whose pattern matches a name.
func (s *schema) found(some []someProperty, matches func(stringPattern) bool) (set uint8) {
	for i, one := range some {
		set |= flag(matches(one.pattern)) << i
	}
	return set
}

// memberValues are the ways of a member's value: as what it may be found.
func (s *schema) memberValues(says []*node, some []someProperty, found uint8) (list []memberValue) {
	for set := range uint8(1 << len(some)) {
		if set&^found != 0 {
			continue
		}
		all := slices.Clone(says)
		for i, one := range some {
			if set>>i&1 == 1 {
				all = append(all, one.node)
			}
		}
		list = append(list, memberValue{s.rule(all...), set})
	}
	return list
}

// saysOfOthers tells whether properties without names are spoken of.
func (c *conjunction) saysOfOthers() bool {
	return slices.ContainsFunc(c.nodes, func(n *node) bool { return n.additional != nil || len(n.patternProps) > 0 })
}

// nameless has no object fit where a name is required that is not allowed.
func (s *schema) nameless(m *members, c *conjunction, required bool) {
	if required {
		none := []memberValue{{rule: s.p.rule()}}
		s.p.places[none[0].rule], s.p.made[none[0].rule] = c.place(), c
		m.named = append(m.named, member{ownTerm(regexNone), none, true})
	}
}

func (s *schema) allowedName(c *conjunction, name string) bool {
	v := &value{kind: valueString, text: name}
	return !slices.ContainsFunc(c.nodes, func(n *node) bool { return n.names != nil && !s.fits(n.names, v, 0) })
}

// others adds the properties that have no names in the schemas: a case for each set of patterns that a name may match.
func (s *schema) others(m *members, c *conjunction, names []string, some []someProperty) {
	var patterns []stringPattern
	for _, one := range some {
		if !slices.Contains(patterns, one.pattern) {
			patterns = append(patterns, one.pattern)
		}
	}
	for _, n := range c.nodes {
		for _, p := range n.patternProps {
			if !slices.Contains(patterns, p.pattern) {
				patterns = append(patterns, p.pattern)
			}
		}
	}
	if len(patterns) > maxPatterns {
		s.unsupported(c.nodes[0].place, "over %d patterns of property names", maxPatterns)
		return
	}
	for set := range 1 << len(patterns) {
		says, closed := s.sayOfOthers(c, patterns, set)
		if closed {
			continue
		}
		key, any := s.otherKey(c, names, patterns, set)
		if any {
			found := s.found(some, func(p stringPattern) bool { return set>>slices.Index(patterns, p)&1 == 1 })
			m.others = append(m.others, member{key: key, values: s.memberValues(says, some, found)})
			if m.most < 0 || m.most > 1 {
				s.foundOnce(c, says, some, found)
			}
		}
	}
}

// foundOnce refuses a property that an object must have one of where its name could come twice: the second value, which
// is the one that counts, need not be what was found.
func (s *schema) foundOnce(c *conjunction, says []*node, some []someProperty, found uint8) {
	for i, one := range some {
		if found>>i&1 == 1 && s.conjunction(append(slices.Clone(says), s.not(one.node))).types() != 0 {
			s.unsupported(c.place(), "the opposite of what is said of properties that the schema does not name (in not, if or "+
				"oneOf): one name could come twice. Name the properties, with additionalProperties false")
		}
	}
}

// sayOfOthers lists what holds for a property whose name matches a set of the patterns. Where that is nothing,
// there is no such property.
func (s *schema) sayOfOthers(c *conjunction, patterns []stringPattern, set int) (says []*node, closed bool) {
	for _, n := range c.nodes {
		matched := false
		for _, p := range n.patternProps {
			if set>>slices.Index(patterns, p.pattern)&1 == 1 {
				says, matched = append(says, p.node), true
			}
		}
		if !matched && n.additional != nil {
			says = append(says, n.additional)
		}
	}
	return says, slices.Contains(says, s.nothing)
}

// otherKey is the terminal of names that are not listed and match just the set of patterns; not some if there is none.
func (s *schema) otherKey(c *conjunction, names []string, patterns []stringPattern, set int) (key symbol, some bool) {
	r := s.p.own
	list := []regexID{}
	if len(names) > 0 {
		texts := make([]string, len(names))
		for i, name := range names {
			texts[i] = s.spelling.bare(name)
		}
		list = append(list, r.not(r.literals(texts)))
	}
	for i, p := range patterns {
		list = append(list, r.unless(p.id, p.not != (set>>i&1 == 0)))
	}
	for _, n := range c.nodes {
		if n.names != nil {
			list = append(list, s.nameContent(n.names))
		}
	}
	if len(list) == 0 {
		return s.json.terms.key, true
	}
	content := r.and(append(list, r.star(s.character()))...)
	if !r.nonEmpty(content) {
		return symbol{}, false
	}
	if s.spelling.call {
		return ownTerm(r.and(content, r.callName())), r.nonEmpty(r.and(content, r.callName()))
	}
	quote := r.literal(`"`)
	return ownTerm(r.concat(quote, content, quote)), true
}

// unless is an expression, or its opposite.
func (r *regexes) unless(id regexID, not bool) regexID {
	if not {
		return r.not(id)
	}
	return id
}

// nameContent is what propertyNames leaves of names, as the text between quotes.
func (s *schema) nameContent(n *node) regexID {
	return s.contentOf(s.conjunction([]*node{n}), 0)
}

// contentOf is the text between the quotes of the strings of a conjunction with choices.
func (s *schema) contentOf(c *conjunction, depth int) regexID {
	if len(c.open) > 0 && c.types()&typeString != 0 {
		if depth >= maxListed {
			s.unsupported(c.nodes[0].place, "propertyNames with many alternatives")
			return regexNone
		}
		var list []regexID
		for _, alternative := range c.open[0].alternatives {
			list = append(list, s.contentOf(s.with(c, 0, alternative), depth+1))
		}
		return s.p.own.or(list...)
	}
	if list, listed := s.values(c); listed {
		var texts []string
		for _, v := range list {
			if v.kind == valueString {
				texts = append(texts, s.spelling.bare(v.text))
			}
		}
		return s.p.own.literals(texts)
	}
	if c.types()&typeString == 0 {
		return regexNone
	}
	return s.content(c)
}

// object adds the objects of a conjunction.
func (s *schema) object(rule int32, c *conjunction) {
	if excluded := c.excluded(typeObject); len(excluded) > 0 {
		s.unsupported(c.nodes[0].place, "the opposite of an object that enum or const lists")
		return
	}
	m := s.members(c)
	if m.most >= 0 && m.most < m.least {
		return
	}
	if len(m.named) == 0 && m.least == 0 && m.most < 0 && m.some == 0 && len(m.others) == 1 &&
		m.others[0].key == s.json.terms.key && m.others[0].values[0].rule == s.rule() {
		s.p.alternative(rule, ruleSymbol(s.anyObject()))
		return
	}
	s.objectOf(rule, m)
}

// objectOf adds the objects of some members.
func (s *schema) objectOf(rule int32, m *members) {
	o := &objectRules{s: s, members: m, rules: map[string]int32{}}
	start := o.place(objectPlace{})
	s.p.alternative(rule, s.json.spaced(s.json.terms.open, ruleSymbol(start))...)
	o.run()
	if s.free && len(m.named)+len(m.others) > 1 {
		free := &freeObject{p: s.p, json: s.json, members: m, rules: map[string]int32{}}
		first := freePlace{seen: string(make([]byte, (len(m.named)+7)/8))}
		s.p.later[start] = func() {
			if free.completable(first) {
				free.fill(start, first)
			}
		}
	}
}

// objectRules makes the rules of one kind of objects, whose members come in the order of the schema: one for each place
// between them.
type objectRules struct {
	s       *schema
	members *members
	rules   map[string]int32
	todo    []objectPlace
}

// objectPlace is a place between members.
type objectPlace struct {
	next  int  // the first named member that may come
	some  bool // a member came: a comma comes before the next
	count int  // members that came, as far as that matters
	found uint8
}

func (o *objectRules) place(p objectPlace) int32 {
	p.count = o.members.counted(p.count)
	k := binary.AppendUvarint(nil, uint64(p.next))
	k = binary.AppendUvarint(append(k, flag(p.some), p.found), uint64(p.count))
	if r, ok := o.rules[string(k)]; ok {
		return r
	}
	r := o.s.p.rule()
	o.rules[string(k)] = r
	o.todo = append(o.todo, p)
	if len(o.s.p.rules) > maxRules {
		o.s.tooManyRules(o.s.at, "the counts and names of its properties")
	}
	return r
}

func (o *objectRules) run() {
	for len(o.todo) > 0 && o.s.err == nil {
		p := o.todo[0]
		o.todo = o.todo[1:]
		o.fill(o.place(p), p)
	}
}

// fill makes the ways on from a place.
func (o *objectRules) fill(rule int32, p objectPlace) {
	m := o.members
	if p.next < len(m.named) {
		next := objectPlace{next: p.next + 1, some: true, count: p.count + 1, found: p.found}
		o.member(rule, p, m.named[p.next], next)
		if !m.named[p.next].required {
			o.s.p.alternative(rule, ruleSymbol(o.place(objectPlace{p.next + 1, p.some, p.count, p.found})))
		}
		return
	}
	o.end(rule, p)
	for _, other := range m.others {
		o.member(rule, p, other, objectPlace{next: p.next, some: true, count: p.count + 1, found: p.found})
	}
}

// member adds the way through one member.
func (o *objectRules) member(rule int32, p objectPlace, m member, next objectPlace) {
	if o.members.most >= 0 && next.count > o.members.most {
		return
	}
	for _, v := range m.values {
		if v.finds&p.found == 0 {
			next.found = p.found | v.finds
			o.s.p.alternative(rule, o.s.json.member(m.key, v.rule, p.some, o.place(next))...)
		}
	}
}

func (o *objectRules) end(rule int32, p objectPlace) {
	if p.count >= o.members.least && p.found == o.members.some {
		o.s.p.alternative(rule, o.s.json.terms.close)
	}
}
