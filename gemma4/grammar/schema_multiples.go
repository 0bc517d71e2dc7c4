package grammar

import (
	"math/big"
	"strings"
)

// Bounds of multipleOf. An automaton for it has a state for each remainder; from one of them the way to the end must
// be found within maxEmptiness states, however few of the numbers fit.
const (
	maxRemainders = 3000
	maxMultiples  = 1 << 12 // multiples between bounds that are listed instead
)

// multiples are what the numbers of a conjunction must match to be multiples, and no multiples, of what it says.
func (s *schema) multiples(c *conjunction, least, most *bound) (list []regexID) {
	var common *big.Rat // the least number that is a multiple of all
	var of *node
	for _, n := range c.nodes {
		for _, m := range n.multiples {
			common, of = leastCommon(common, m), n
		}
		for _, m := range n.notMultiples { // most numbers are none: what fits is soon found, however many there are
			if manyRemainders(m) {
				s.unsupported(n.place+"/multipleOf", "what is no multiple of %.40s", trimmed(m))
				return nil
			}
			list = append(list, s.p.own.not(s.multipleOf(n, m)))
		}
	}
	switch {
	case common == nil:
		return list
	case manyRemainders(common):
		return append(list, s.enumerated(of, common, least, most))
	}
	return append(list, s.multipleOf(of, common))
}

// manyRemainders tells whether there are too many to have states of.
func manyRemainders(m *big.Rat) bool {
	whole, _, ok := decimal(m)
	return ok && whole.Cmp(big.NewInt(maxRemainders)) > 0
}

// leastCommon is the least number that is a multiple of both; a may be nil.
func leastCommon(a, b *big.Rat) *big.Rat {
	if a == nil {
		return b
	}
	shared := new(big.Int).GCD(nil, nil, a.Num(), b.Num())
	whole := new(big.Int).Div(new(big.Int).Mul(a.Num(), b.Num()), shared)
	return new(big.Rat).SetFrac(whole, new(big.Int).GCD(nil, nil, a.Denom(), b.Denom()))
}

// enumerated is the multiples between bounds, one by one.
func (s *schema) enumerated(of *node, m *big.Rat, least, most *bound) regexID {
	place := of.place + "/multipleOf"
	if least == nil || most == nil {
		s.unsupported(place, "multipleOf %.40s needs a minimum and a maximum, with at most %d multiples between them",
			trimmed(m), maxMultiples)
		return regexNone
	}
	first, last := quotient(least, m, true), quotient(most, m, false)
	count := new(big.Int).Sub(last, first)
	if count.Cmp(big.NewInt(maxMultiples)) >= 0 {
		s.unsupported(place, "multipleOf %.40s has over %d multiples between the minimum and the maximum",
			trimmed(m), maxMultiples)
		return regexNone
	}
	var whole, broken []string
	for k := first; k.Cmp(last) <= 0; k = new(big.Int).Add(k, big.NewInt(1)) {
		text := trimmed(new(big.Rat).Mul(new(big.Rat).SetInt(k), m))
		if strings.Contains(text, ".") {
			broken = append(broken, text)
		} else {
			whole = append(whole, text)
		}
	}
	r := s.p.own
	zero := r.digits("0")
	return r.or(r.concat(r.literals(whole), r.optional(r.concat(r.literal("."), r.repeat(zero, 1, -1)))),
		r.concat(r.literals(broken), r.star(zero)))
}

// quotient is the least (or greatest) whole number whose multiple of m keeps to a bound from below (or above).
func quotient(b *bound, m *big.Rat, below bool) *big.Int {
	q := new(big.Rat).Quo(b.at, m)
	floor := new(big.Int).Div(q.Num(), q.Denom()) // Euclid's, and the denominator is above 0
	exact := q.IsInt()
	switch {
	case below && (!exact || b.strict):
		return floor.Add(floor, big.NewInt(1))
	case !below && exact && b.strict:
		return floor.Sub(floor, big.NewInt(1))
	}
	return floor
}

// trimmed is a decimal number as it is usually written.
func trimmed(x *big.Rat) string {
	_, places, ok := decimal(x)
	if !ok {
		return x.RatString()
	}
	return x.FloatString(places)
}
