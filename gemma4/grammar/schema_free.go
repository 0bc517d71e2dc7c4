package grammar

import "encoding/binary"

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
}

func (o *freeObject) place(p freePlace) int32 {
	p.count = o.members.counted(p.count)
	k := string(binary.AppendUvarint([]byte(p.seen), uint64(p.count)<<1|uint64(flag(p.some))))
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
			o.member(rule, p, named, freePlace{p.with(i), true, p.count + 1})
		}
	}
	if due == 0 && p.count >= m.least {
		o.p.alternative(rule, o.json.terms.close)
	}
	for _, other := range m.others {
		if room {
			o.member(rule, p, other, freePlace{p.seen, true, p.count + 1})
		}
	}
}

func (p freePlace) has(i int) bool { return p.seen[i/8]>>(i%8)&1 == 1 }

func (p freePlace) with(i int) string {
	seen := []byte(p.seen)
	seen[i/8] |= 1 << (i % 8)
	return string(seen)
}

// member adds the way through one member whose value can be completed.
func (o *freeObject) member(rule int32, p freePlace, m member, next freePlace) {
	if int(m.value) < len(o.p.productive) && !o.p.productive[m.value] || !o.p.own.nonEmpty(regexID(m.key.id)) {
		return
	}
	o.p.alternative(rule, o.json.member(m, p.some, o.place(next))...)
}
