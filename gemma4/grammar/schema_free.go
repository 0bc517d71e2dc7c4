package grammar

import (
	"encoding/binary"
	"slices"
)

// freeObject makes the rules of one kind of objects whose members come in any order: one for each set of members that
// came, made when a machine first comes there. There are too many to make them all.
type freeObject struct {
	p       *program
	json    jsonRules
	members *members
	rules   map[string]int32
}

// freePlace is a place between members.
type freePlace struct {
	seen  string // the named members that came, as a set of bits
	some  bool   // a member came: a comma comes before the next
	count int    // members that came, as far as that matters
	found uint8
}

func (o *freeObject) place(p freePlace) int32 {
	p.count = o.members.counted(p.count)
	k := string(binary.AppendUvarint([]byte(p.seen), uint64(p.count)<<1|uint64(flag(p.some)))) + string(p.found)
	if r, ok := o.rules[k]; ok {
		return r
	}
	r := o.p.rule()
	o.rules[k] = r
	o.p.later[r] = func() { o.fill(r, p) }
	return r
}

// fill makes the ways on from a place, those from which the object can be completed.
func (o *freeObject) fill(rule int32, p freePlace) {
	m := o.members
	due := 0 // required members still to come
	for i, named := range m.named {
		if named.required && !p.has(i) {
			due++
		}
	}
	room := m.most < 0 || p.count+due < m.most // for one that is not required
	for i, named := range m.named {
		if !p.has(i) && (named.required || room) {
			o.member(rule, p, named, freePlace{p.with(i), true, p.count + 1, p.found})
		}
	}
	if due == 0 && p.count >= m.least && p.found == m.some {
		o.p.alternative(rule, o.json.terms.close)
	}
	for _, other := range m.others {
		if room {
			o.member(rule, p, other, freePlace{p.seen, true, p.count + 1, p.found})
		}
	}
}

func (p freePlace) has(i int) bool { return p.seen[i/8]>>(i%8)&1 == 1 }

func (p freePlace) with(i int) string {
	seen := []byte(p.seen)
	seen[i/8] |= 1 << (i % 8)
	return string(seen)
}

// member adds the ways through one member whose value, and what comes behind it, can be completed.
func (o *freeObject) member(rule int32, p freePlace, m member, next freePlace) {
	if !o.p.own.nonEmpty(regexID(m.key.id)) {
		return
	}
	for _, v := range m.values {
		if next.found = p.found | v.finds; v.finds&p.found == 0 && o.productive(v) && o.completable(next) {
			o.p.alternative(rule, o.json.member(m.key, v.rule, p.some, o.place(next))...)
		}
	}
}

func (o *freeObject) productive(v memberValue) bool {
	return int(v.rule) >= len(o.p.productive) || o.p.productive[v.rule]
}

// completable tells whether the members that an object must have some of can still come. It takes one member for each
// of them, which is more than may be needed.
func (o *freeObject) completable(p freePlace) bool {
	m := o.members
	missing := m.some &^ p.found
	if missing == 0 {
		return true
	}
	room := maxItems
	if m.most >= 0 {
		room = m.most - p.count
		for i, named := range m.named {
			room -= int(flag(named.required && !p.has(i)))
		}
	}
	return o.find(p, missing, room)
}

// find tells whether there are different members for each of those that are missing.
func (o *freeObject) find(p freePlace, missing uint8, room int) bool {
	if missing == 0 {
		return true
	}
	wanted := missing & -missing
	finds := func(v memberValue) bool { return v.finds == wanted && o.productive(v) }
	for _, other := range o.members.others {
		if room > 0 && slices.ContainsFunc(other.values, finds) {
			return o.find(p, missing&^wanted, room-1)
		}
	}
	for i, named := range o.members.named {
		if left := room - int(flag(!named.required)); !p.has(i) && left >= 0 && slices.ContainsFunc(named.values, finds) {
			p := p
			if p.seen = p.with(i); o.find(p, missing&^wanted, left) {
				return true
			}
		}
	}
	return false
}
