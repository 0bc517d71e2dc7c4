package grammar

import (
	"sync"
	"unicode"
)

// baseTerms are the terminals that all JSON shares. They lie in the base expressions of a vocabulary, with their masks.
type baseTerms struct {
	str, number, space                             symbol
	open, close, openList, closeList, comma, colon symbol
	yes, no, null, integer                         symbol
	key                                            symbol // any name of a member
}

// What a model might go on with for ever, without saying anything, has a bound: whitespace in one place, which
// holds a line's end and a deep indentation, and the digits of a number.
const (
	maxSpace    = 128
	maxZeros    = 20 // at the end of the fraction of a multiple
	maxDigits   = 64 // before the point, and behind it
	maxOfPowers = 3  // digits of an exponent
)

// buildBase makes the shared terminals and all states of their automata, so that they are only read from then on.
func (v *Vocabulary) buildBase() {
	r := newRegexes()
	term := func(id regexID) symbol { return ownTerm(id) }
	v.base = r
	str := term(r.jsonString())
	v.terms = baseTerms{
		str: str, key: str, number: term(r.jsonNumber()), space: term(r.repeat(r.set(setOf(" \t\n\r")), 0, maxSpace)),
		open: term(r.literal("{")), close: term(r.literal("}")), openList: term(r.literal("[")),
		closeList: term(r.literal("]")), comma: term(r.literal(",")), colon: term(r.literal(":")),
		integer: term(r.concat(r.optional(r.literal("-")), r.wholeNumber(maxDigits))),
		yes:     term(r.literal("true")), no: term(r.literal("false")), null: term(r.literal("null")),
	}
	v.lineTerms = v.terms
	v.lineTerms.comma, v.lineTerms.colon = term(r.literal(", ")), term(r.literal(": "))
	v.callTerms = v.terms.ofCalls(r)
	v.freeText = term(r.freeText())
	spelled := r.star(r.spelledRunes(0, unicode.MaxRune))
	v.strings = []regexID{r.concat2(spelled, r.literal(`"`)), r.concat2(r.star(r.jsonCharacter()), r.literal(`"`)),
		r.concat2(r.star(r.runes(0, unicode.MaxRune)), r.marker(quoteMark))}
	for id := 0; id < len(r.nodes); id++ { // live adds nodes
		r.live(regexID(id))
	}
	v.once, v.local = make([]sync.Once, len(r.nodes)), make([]*localMask, len(r.nodes))
}

// jsonString is a JSON string (RFC 8259) of valid characters: half of a surrogate pair is none.
func (r *regexes) jsonString() regexID {
	quote := r.literal(`"`)
	return r.concat(quote, r.star(r.jsonCharacter()), quote)
}

func (r *regexes) jsonCharacter() regexID {
	hex := r.set(setOf("0123456789abcdefABCDEF"))
	unit := r.or(
		r.concat(r.set(setOf("0123456789abcefABCEF")), hex, hex, hex),
		r.concat(r.set(setOf("dD")), r.set(setOf("01234567")), hex, hex))
	pair := r.concat(r.set(setOf("dD")), r.set(setOf("89abAB")), hex, hex,
		r.literal(`\u`), r.set(setOf("dD")), r.set(setOf("cdefCDEF")), hex, hex)
	return r.or(
		r.runes(' ', '!'), r.runes('#', '['), r.runes(']', 0x10FFFF),
		r.concat(r.literal(`\`), r.set(setOf(`"\/bfnrt`))),
		r.concat(r.literal(`\u`), r.or(unit, pair)))
}

// jsonNumber is a JSON number (RFC 8259) within the bounds of digits.
func (r *regexes) jsonNumber() regexID {
	digit := r.set(setOf("0123456789"))
	fraction := r.concat(r.literal("."), r.repeat(digit, 1, maxDigits))
	exponent := r.concat(r.set(setOf("eE")), r.optional(r.set(setOf("+-"))), r.repeat(digit, 1, maxOfPowers))
	return r.concat(r.optional(r.literal("-")), r.wholeNumber(maxDigits), r.optional(fraction), r.optional(exponent))
}

// jsonRules makes the rules of JSON.
type jsonRules struct {
	p      *program
	terms  *baseTerms
	fixed  bool  // whitespace is in the terminals, if anywhere
	object int32 // that of any object
}

func newJSONRules(p *program, v *Vocabulary, form Form) jsonRules {
	j := jsonRules{p: p, terms: &v.terms, fixed: form.Whitespace != AnyWhitespace}
	if form.Whitespace == OneSpace {
		j.terms = &v.lineTerms
	}
	return j
}

// spaced puts the whitespace that JSON allows between symbols.
func (j *jsonRules) spaced(symbols ...symbol) []symbol {
	if j.fixed {
		return symbols
	}
	out := symbols[:1:1]
	for _, s := range symbols[1:] {
		out = append(out, j.terms.space, s)
	}
	return out
}

// any is the rule of any JSON value.
func (j *jsonRules) any() int32 {
	p, t := j.p, j.terms
	value, object, list, members, items := p.rule(), p.rule(), p.rule(), p.rule(), p.rule()
	j.object = object
	for _, s := range []symbol{t.str, t.number, t.yes, t.no, t.null, ruleSymbol(object), ruleSymbol(list)} {
		p.alternative(value, s)
	}
	member := []symbol{t.key, t.colon, ruleSymbol(value), ruleSymbol(members)}
	p.alternative(object, j.spaced(t.open, t.close)...)
	p.alternative(object, j.spaced(append([]symbol{t.open}, member...)...)...)
	p.alternative(members, t.close)
	p.alternative(members, j.spaced(append([]symbol{t.comma}, member...)...)...)
	item := []symbol{ruleSymbol(value), ruleSymbol(items)}
	p.alternative(list, j.spaced(t.openList, t.closeList)...)
	p.alternative(list, j.spaced(append([]symbol{t.openList}, item...)...)...)
	p.alternative(items, t.closeList)
	p.alternative(items, j.spaced(append([]symbol{t.comma}, item...)...)...)
	return value
}
