package grammar

import (
	"encoding/binary"
	"slices"
)

// maxUnique bounds the values of which no two items may be the same.
const maxUnique = 1 << 10

// uniqueArray adds arrays in which no two items are the same: those of values that can be listed. To tell longer texts
// apart takes more than a grammar.
func (s *schema) uniqueArray(rule int32, l *list) {
	place := l.unique.place + "/uniqueItems"
	values, ok := s.listed(s.conjunction(l.items), 0)
	if !ok || len(l.prefix) > 0 || len(l.contains) > 0 || len(values) > maxUnique {
		s.unsupported(place, "uniqueItems in arrays of several items, which are not all of one enum (of at most %d values)",
			maxUnique)
		return
	}
	if l.most < 0 || l.most > len(values) {
		l.most = len(values)
	}
	if l.most < l.least {
		return
	}
	u := &uniqueItems{p: s.p, json: s.json, least: l.least, most: l.most, rules: map[string]int32{}}
	for _, v := range values {
		item := s.p.rule()
		s.literals(item, []*value{v})
		u.items = append(u.items, item)
	}
	start := u.inOrder()
	s.p.alternative(rule, s.json.spaced(s.json.terms.openList, ruleSymbol(start))...)
	s.p.later[start] = func() { u.fill(start, make([]byte, (len(values)+7)/8), 0) }
}

// maxListed bounds how deep choices are followed for their values.
const maxListed = 8

// listed lists the values of a conjunction, if it has but a few.
func (s *schema) listed(c *conjunction, depth int) (list []*value, ok bool) {
	t := c.types()
	switch list, ok = s.values(c); {
	case t == 0:
		return nil, true
	case ok:
	case len(c.open) > 0 && depth < maxListed:
		for _, alternative := range c.open[0].alternatives {
			some, ok := s.listed(s.with(c, 0, alternative), depth+1)
			if list = append(list, some...); !ok || len(list) > maxUnique {
				return nil, false
			}
		}
	case t&^(typeNull|typeBoolean) == 0 && len(c.open) == 0:
		for _, of := range []types{typeNull, typeFalse, typeTrue} {
			if v := (&value{kind: kindOf(of)}); t&of != 0 && !c.excludes(v) {
				list = append(list, v)
			}
		}
	default:
		return nil, false
	}
	var different []*value
	for _, v := range list {
		if !slices.ContainsFunc(different, v.equal) {
			different = append(different, v)
		}
	}
	return different, true
}

// uniqueItems makes the rules of one kind of arrays whose items differ: one for each set of items that came, made when
// a machine first comes there.
type uniqueItems struct {
	p           *program
	json        jsonRules
	items       []int32 // rule of each value
	least, most int
	rules       map[string]int32
}

// inOrder is the rule of the arrays in the order of the values, which stands for all of them until a machine comes
// there: where one can be completed, so can the other.
func (u *uniqueItems) inOrder() int32 {
	next := u.p.rule()
	for i := len(u.items); i >= 0; i-- {
		rule := u.p.rule()
		if i >= u.least {
			u.p.alternative(rule, u.json.terms.closeList)
		}
		if i < u.most {
			u.p.alternative(rule, u.item(u.items[i], i > 0, next)...)
		}
		next = rule
	}
	return next
}

func (u *uniqueItems) item(value int32, behind bool, next int32) []symbol {
	symbols := []symbol{ruleSymbol(value), ruleSymbol(next)}
	if behind {
		symbols = append([]symbol{u.json.terms.comma}, symbols...)
	}
	return u.json.spaced(symbols...)
}

// fill makes the ways on from a place behind a set of items.
func (u *uniqueItems) fill(rule int32, seen []byte, count int) {
	if count >= u.least {
		u.p.alternative(rule, u.json.terms.closeList)
	}
	if count == u.most {
		return
	}
	for i, value := range u.items {
		if seen[i/8]>>(i%8)&1 == 1 {
			continue
		}
		with := slices.Clone(seen)
		with[i/8] |= 1 << (i % 8)
		u.p.alternative(rule, u.item(value, count > 0, u.place(with, count+1))...)
	}
}

func (u *uniqueItems) place(seen []byte, count int) int32 {
	k := string(binary.AppendUvarint(slices.Clone(seen), uint64(count)))
	if r, ok := u.rules[k]; ok {
		return r
	}
	r := u.p.rule()
	u.rules[k] = r
	u.p.later[r] = func() { u.fill(r, seen, count) }
	return r
}
