package grammar

import (
	"math/big"
	"strings"
)

// number is the terminal of the numbers of a conjunction. Where a bound or a multiple is given they are written without
// an exponent.
func (s *schema) number(c *conjunction, t types) symbol {
	r := s.p.own
	var least, most *bound
	for _, n := range c.nodes {
		least, most = higher(least, n.least), lower(most, n.most)
	}
	list := s.multiples(c, least, most)
	multiples := len(list) > 0
	excluded := c.excluded(typeNumber)
	if least == nil && most == nil && len(list) == 0 && len(excluded) == 0 {
		switch t & typeNumber {
		case typeNumber:
			return s.json.terms.number
		case typeInteger:
			return s.json.terms.integer
		}
	}
	digit := r.digits("0123456789")
	switch t & typeNumber {
	case typeInteger:
		list = append(list, r.concat(r.optional(r.literal("-")), r.star(digit)))
	case typeFraction:
		list = append(list, r.concat(r.optional(r.literal("-")), r.star(digit), r.literal("."), r.star(digit),
			r.digits("123456789"), r.star(digit)))
	}
	for _, v := range excluded {
		list = append(list, r.not(s.equalTo(c, v)))
	}
	list = append(list, s.between(c.nodes[0], least, most))
	// Last and for the whole: what "not" takes away has to be taken away with any number of zeros.
	if multiples {
		return ownTerm(r.and(append(list, r.fewZeros())...))
	}
	return ownTerm(r.and(append(list, r.fewDigits(s.digitsOf(c, least, most)))...))
}

// digitsOf bounds the digits of numbers before and behind the point: at least those of their bounds.
func (s *schema) digitsOf(c *conjunction, least, most *bound) (whole, fraction int) {
	whole, fraction = maxDigits, maxDigits
	for _, b := range []*bound{least, most} {
		if b != nil {
			x := s.numeral(c.nodes[0], new(big.Rat).Abs(b.at))
			whole, fraction = max(whole, len(x.whole)), max(fraction, len(x.fraction)+1)
		}
	}
	return whole, fraction
}

// fewZeros is the numerals whose fraction ends in at most maxZeros zeros, among numerals without an exponent. It stands
// for fewDigits where remainders are counted, too, whose states the count of digits would multiply.
func (r *regexes) fewZeros() regexID {
	digit := r.digits("0123456789")
	fraction := r.concat(r.literal("."), r.optional(r.concat(r.star(digit), r.digits("123456789"))),
		r.repeat(r.digits("0"), 0, maxZeros))
	return r.concat(r.optional(r.literal("-")), r.star(digit), r.optional(fraction))
}

// fewDigits is the numerals with at most so many digits before the point and behind it, among those without an
// exponent.
func (r *regexes) fewDigits(whole, fraction int) regexID {
	digit := r.digits("0123456789")
	return r.concat(r.optional(r.literal("-")), r.repeat(digit, 1, whole),
		r.optional(r.concat(r.literal("."), r.repeat(digit, 1, fraction))))
}

func (r *regexes) digits(of string) regexID { return r.set(setOf(of)) }

// wholeNumber is at most so many digits, without a 0 before others.
func (r *regexes) wholeNumber(digits int) regexID {
	return r.or(r.literal("0"), r.concat(r.digits("123456789"), r.repeat(r.digits("0123456789"), 0, digits-1)))
}

// multipleOf counts remainders, of which there are at most maxRemainders.
func (s *schema) multipleOf(n *node, m *big.Rat) regexID {
	r := s.p.own
	of, places, ok := decimal(m)
	if !ok {
		s.unsupported(n.place+"/multipleOf", "multipleOf %s", m.RatString())
		return regexNone
	}
	return r.concat(r.optional(r.literal("-")), r.intern(regexNode{op: opMultiple,
		multiple: multiple{of: of.Uint64(), places: places, fraction: -1}}))
}

// maxPlaces bounds the decimal places of bounds and multiples.
const maxPlaces = 64

// decimal is a number as an integer over a power of ten, the least that does.
func decimal(x *big.Rat) (whole *big.Int, places int, ok bool) {
	for ten := big.NewRat(10, 1); places <= maxPlaces; places++ {
		if x.IsInt() {
			return x.Num(), places, true
		}
		x = new(big.Rat).Mul(x, ten)
	}
	return nil, 0, false
}

// numeral is a decimal number of 0 or more: digits before the point, and behind it without a 0 at their end.
type numeral struct{ whole, fraction string }

func (s *schema) numeral(n *node, x *big.Rat) numeral {
	whole, places, ok := decimal(x)
	if !ok || len(whole.String()) > maxExponent {
		s.unsupported(n.place, "a bound of %d digits and more", maxPlaces)
		return numeral{"0", ""}
	}
	digits := whole.String()
	if len(digits) <= places {
		digits = strings.Repeat("0", places-len(digits)+1) + digits
	}
	return numeral{digits[:len(digits)-places], digits[len(digits)-places:]}
}

// equalTo is the ways to write a number without an exponent.
func (s *schema) equalTo(c *conjunction, v *value) regexID {
	x, ok := exact(v.text)
	if !ok {
		s.unsupported(c.nodes[0].place, "the opposite of the number %.40s", v.text)
		return regexNone
	}
	at := &bound{at: x}
	return s.between(c.nodes[0], at, at)
}

// between is the numbers between bounds, written without an exponent.
func (s *schema) between(n *node, least, most *bound) regexID {
	r := s.p.own
	side := func(least, most *bound) regexID { // of the numbers of 0 or more
		if most != nil && (most.at.Sign() < 0 || most.at.Sign() == 0 && most.strict) {
			return regexNone
		}
		list := []regexID{r.atLeast(numeral{"0", ""}, false)}
		if least != nil && least.at.Sign() >= 0 {
			list = append(list, r.atLeast(s.numeral(n, least.at), least.strict))
		}
		if most != nil {
			list = append(list, r.atMost(s.numeral(n, most.at), most.strict))
		}
		return r.and(list...)
	}
	mirrored := func(b *bound) *bound {
		if b == nil {
			return nil
		}
		return &bound{new(big.Rat).Neg(b.at), b.strict}
	}
	return r.or(side(least, most), r.concat2(r.literal("-"), side(mirrored(most), mirrored(least))))
}

// atLeast is the numerals of at least, or above, another.
func (r *regexes) atLeast(x numeral, strict bool) regexID {
	digit := r.digits("0123456789")
	fraction := r.optional(r.concat(r.literal("."), r.repeat(digit, 1, -1)))
	list := []regexID{
		r.concat(r.digits("123456789"), r.repeat(digit, len(x.whole), -1), fraction),
		r.concat(r.greater(x.whole, func(rest int) regexID { return r.repeat(digit, rest, rest) }), fraction),
	}
	some := r.concat(r.star(digit), r.digits("123456789"), r.star(digit)) // digits that are not all 0
	switch {
	case x.fraction == "" && !strict:
		list = append(list, r.concat(r.literal(x.whole), fraction))
	case x.fraction == "":
		list = append(list, r.concat(r.literal(x.whole+"."), some))
	default:
		list = append(list, r.concat(r.literal(x.whole+"."), r.greater(x.fraction,
			func(int) regexID { return r.star(digit) })))
		if strict {
			list = append(list, r.concat(r.literal(x.whole+"."+x.fraction), some))
		} else {
			list = append(list, r.concat(r.literal(x.whole+"."+x.fraction), r.star(digit)))
		}
	}
	return r.or(list...)
}

// greater is the digits that are greater than others at the first place where they differ; rest is what follows.
func (r *regexes) greater(digits string, rest func(int) regexID) regexID {
	var list []regexID
	for i := range len(digits) {
		if digits[i] < '9' {
			list = append(list, r.concat(r.literal(digits[:i]), r.set(setRange(int(digits[i])+1, '9')),
				rest(len(digits)-i-1)))
		}
	}
	return r.or(list...)
}

// less is the digits that are less than others at the first place where they differ; first is the least first digit.
func (r *regexes) less(digits string, first byte, rest func(int) regexID) regexID {
	var list []regexID
	for i := range len(digits) {
		from := byte('0')
		if i == 0 {
			from = first
		}
		if digits[i] > from {
			list = append(list, r.concat(r.literal(digits[:i]), r.set(setRange(int(from), int(digits[i])-1)),
				rest(len(digits)-i-1)))
		}
	}
	return r.or(list...)
}

// atMost is the numerals of at most, or below, another.
func (r *regexes) atMost(x numeral, strict bool) regexID {
	digit := r.digits("0123456789")
	fraction := r.optional(r.concat(r.literal("."), r.repeat(digit, 1, -1)))
	zeros := r.optional(r.concat(r.literal("."), r.repeat(r.digits("0"), 1, -1)))
	var list []regexID
	first := byte('0')
	if n := len(x.whole); n > 1 {
		first = '1'
		list = append(list, r.concat(r.literal("0"), fraction),
			r.concat(r.digits("123456789"), r.repeat(digit, 0, n-2), fraction))
	}
	list = append(list,
		r.concat(r.less(x.whole, first, func(rest int) regexID { return r.repeat(digit, rest, rest) }), fraction))
	if x.fraction == "" {
		if !strict {
			list = append(list, r.concat(r.literal(x.whole), zeros))
		}
		return r.or(list...)
	}
	list = append(list, r.literal(x.whole),
		r.concat(r.literal(x.whole+"."), r.less(x.fraction, '0', func(int) regexID { return r.star(digit) })))
	for i := 1; i < len(x.fraction); i++ {
		list = append(list, r.literal(x.whole+"."+x.fraction[:i]))
	}
	if !strict {
		list = append(list, r.concat(r.literal(x.whole+"."+x.fraction), r.star(r.digits("0"))))
	}
	return r.or(list...)
}
