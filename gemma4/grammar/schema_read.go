package grammar

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// schema is a JSON schema that is being compiled.
type schema struct {
	p           *program
	json        jsonRules
	spelling    spelling
	root        *value
	draft       int              // 4, 6, 7, 2019 or 2020
	undated     bool             // no $schema says which: bounds may be OpenAPI 3.0's, which are draft 4's
	byValue     map[*value]*node // nodes read so far
	targets     targets
	walked      map[*value]int8 // by circle
	fitted      map[fitKey]bool
	places      map[*value]string // of what $ref may lead to
	nodes       []*node
	choiceCount int32
	free        bool // properties in any order
	rules       map[string]int32
	empty       map[string]bool // by conjunction: whether it is plain that no value fits
	todo        []work
	at          string // the place of the schema whose rule is being filled
	err         error
	anything    *node
	nothing     *node
	characters  regexID // a character of a string in its usual spelling, set when first needed
}

func (s *schema) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *schema) unsupported(place, format string, args ...any) {
	s.fail(fmt.Errorf("%w: at %s: %s", ErrUnsupported, place, fmt.Sprintf(format, args...)))
}

// tooComplex says where a limit was reached.
func (s *schema) tooComplex(place, format string, args ...any) {
	s.fail(fmt.Errorf("%w: at %s: %s", ErrTooComplex, place, fmt.Sprintf(format, args...)))
}

// tooManyRules says what made more rules than there may be.
func (s *schema) tooManyRules(place, what string) {
	if s.choiceCount > 0 {
		what = "what may be chosen (anyOf, oneOf, not, if, dependencies), with " + what + ","
	}
	s.tooComplex(place, "%s make over %d rules; alternatives that each require one property with a const of its own make "+
		"few", what, maxRules)
}

// check says at which place expressions have become too much.
func (s *schema) check(place string) {
	if s.err == nil && s.p.own.err != nil {
		s.fail(placed(s.p.own.err, place))
	}
}

func (s *schema) malformed(place, format string, args ...any) {
	s.fail(fmt.Errorf("%w: at %s: %s", ErrSyntax, place, fmt.Sprintf(format, args...)))
}

// drafts are told by a part of $schema. The newest is taken where a schema names none.
var drafts = []struct {
	part  string
	draft int
}{{"draft-03", 3}, {"draft-04", 4}, {"draft-06", 6}, {"draft-07", 7}, {"2019-09", 2019}, {"2020-12", 2020}}

func (s *schema) readDraft() {
	s.draft = 2020
	named := s.root.get("$schema")
	if s.undated = named == nil; s.undated {
		return
	}
	for _, d := range drafts {
		if strings.Contains(named.text, d.part) {
			s.draft = d.draft
		}
	}
	if s.draft == 3 {
		s.unsupported("#/$schema", "draft 3")
	}
}

// node reads the schema at a value.
func (s *schema) node(v *value) *node {
	if n := s.byValue[v]; n != nil {
		return n
	}
	place := s.places[v]
	switch v.kind {
	case valueTrue:
		return s.anything
	case valueFalse:
		return s.nothing
	}
	n := s.newNode(place)
	s.byValue[v] = n
	if v.kind != valueObject {
		s.malformed(place, "a schema is an object, true or false")
		return n
	}
	if ref := v.get("$ref"); ref != nil && s.draft <= 7 {
		s.keyword(n, v, "$ref", ref) // which stands alone in these drafts
		return n
	}
	for i, key := range v.keys {
		if s.err != nil {
			return n
		}
		s.keyword(n, v, key, v.items[i])
	}
	if nullable := v.get("nullable"); nullable != nil && nullable.kind == valueTrue && v.get("type") != nil {
		n.types |= typeNull
		if n.enum != nil {
			n.enum.list = append(n.enum.list, &value{kind: valueNull})
		}
	}
	return n
}

// keyword adds what one keyword says. Words that JSON Schema does not know, and those that only describe, say nothing.
func (s *schema) keyword(n *node, v *value, key string, arg *value) {
	place := n.place + "/" + key
	switch key {
	case "type":
		n.types = s.readTypes(arg, place)
	case "enum":
		if arg.kind != valueArray {
			s.malformed(place, "enum is a list")
		}
		s.oneOfValues(n, slices.Clone(arg.items))
	case "const":
		if s.draft >= 6 {
			s.oneOfValues(n, []*value{arg})
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		s.numberKeyword(n, v, key, arg, place)
	case "minLength", "maxLength", "pattern", "format":
		s.stringKeyword(n, key, arg, place)
	case "items", "prefixItems", "additionalItems", "contains", "minItems", "maxItems", "uniqueItems":
		s.arrayKeyword(n, v, key, arg, place)
	case "properties", "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties",
		"maxProperties", "dependencies", "dependentRequired", "dependentSchemas":
		s.objectKeyword(n, key, arg, place)
	case "$ref", "allOf", "anyOf", "oneOf", "not", "if":
		s.logicKeyword(n, v, key, arg, place)
	case "unevaluatedProperties", "unevaluatedItems":
		if s.draft >= 2019 && arg.kind != valueTrue {
			s.unsupported(place, "%s", key)
		}
	case "$dynamicRef", "$recursiveRef":
		s.unsupported(place, "%s", key)
	}
}

// oneOfValues holds a value to a list. Where there is one already, from enum beside const, both hold.
func (s *schema) oneOfValues(n *node, list []*value) {
	if n.enum != nil {
		other := s.newNode(n.place)
		n.all, n = append(n.all, other), other
	}
	n.enum = &valueList{list: list}
}

var typeNames = map[string]types{
	"null": typeNull, "boolean": typeBoolean, "integer": typeInteger, "number": typeNumber, "string": typeString,
	"array": typeArray, "object": typeObject,
}

func (s *schema) readTypes(arg *value, place string) (t types) {
	list := []*value{arg}
	if arg.kind == valueArray {
		list = arg.items
	}
	for _, v := range list {
		one, ok := typeNames[s.spelling.typeName(v.text)]
		if v.kind != valueString || !ok {
			s.malformed(place, "%q is no type", v.text)
		}
		t |= one
	}
	return t
}

// maxCounted bounds what schemas count: characters, items, properties. More is as good as no bound above, and none
// below.
const maxCounted = 1 << 20

// count reads a number of characters, items or properties.
func (s *schema) count(arg *value, place string) int {
	r, ok := exact(arg.text)
	if arg.kind != valueNumber || !ok || !r.IsInt() || r.Sign() < 0 {
		s.malformed(place, "a whole number of 0 or more is wanted")
		return 0
	}
	if r.Cmp(big.NewRat(maxCounted, 1)) > 0 {
		return maxCounted
	}
	return int(r.Num().Int64())
}

// most is an upper bound read as count reads it; none where nothing could ever reach it.
func (s *schema) most(arg *value, place string) int {
	if n := s.count(arg, place); n < maxCounted {
		return n
	}
	return -1
}

func (s *schema) numberKeyword(n *node, v *value, key string, arg *value, place string) {
	said := arg.kind == valueTrue || arg.kind == valueFalse
	if (s.draft <= 4 || s.undated && said) && (key == "exclusiveMinimum" || key == "exclusiveMaximum") {
		if arg.kind != valueTrue && arg.kind != valueFalse {
			s.malformed(place, "%s is true or false in draft 4", key)
		}
		return // read with the bound
	}
	if arg.kind != valueNumber {
		s.malformed(place, "%s is a number", key)
		return
	}
	r, ok := exact(arg.text)
	if !ok {
		s.malformed(place, "%s is a number of at most %d digits", key, maxExponent)
		return
	}
	strict := func(key string) bool {
		e := v.get(key)
		return (s.draft <= 4 || s.undated) && e != nil && e.kind == valueTrue
	}
	switch key {
	case "minimum":
		n.least = higher(n.least, &bound{r, strict("exclusiveMinimum")})
	case "maximum":
		n.most = lower(n.most, &bound{r, strict("exclusiveMaximum")})
	case "exclusiveMinimum":
		n.least = higher(n.least, &bound{r, true})
	case "exclusiveMaximum":
		n.most = lower(n.most, &bound{r, true})
	default:
		if r.Sign() <= 0 {
			s.malformed(place, "multipleOf is above 0")
			return
		}
		n.multiples = append(n.multiples, r)
	}
}

func higher(a, b *bound) *bound {
	if a == nil || b != nil && (b.at.Cmp(a.at) > 0 || b.at.Cmp(a.at) == 0 && b.strict) {
		return b
	}
	return a
}

func lower(a, b *bound) *bound {
	if a == nil || b != nil && (b.at.Cmp(a.at) < 0 || b.at.Cmp(a.at) == 0 && b.strict) {
		return b
	}
	return a
}

func (s *schema) stringKeyword(n *node, key string, arg *value, place string) {
	switch key {
	case "minLength":
		n.minLen = s.count(arg, place)
	case "maxLength":
		n.maxLen = s.most(arg, place)
	case "pattern":
		if arg.kind != valueString {
			s.malformed(place, "a pattern is a string")
			return
		}
		n.patterns = append(n.patterns, s.pattern(arg.text, place))
	default:
		if arg.kind != valueString {
			s.malformed(place, "a format is a string")
			return
		}
		n.patterns = append(n.patterns, s.format(arg.text, place)...)
	}
}

func (s *schema) arrayKeyword(n *node, v *value, key string, arg *value, place string) {
	switch key {
	case "prefixItems":
		if s.draft >= 2019 {
			n.prefix = s.nodeList(arg, place)
		}
	case "items":
		if arg.kind == valueArray {
			n.prefix = s.nodeList(arg, place)
		} else {
			n.items = s.node(arg)
		}
	case "additionalItems":
		if list := v.get("items"); list != nil && list.kind == valueArray { // of an older draft, whatever $schema says
			n.items = s.node(arg)
		}
	case "contains":
		if s.draft < 6 {
			return
		}
		c := contained{node: s.node(arg), least: 1, most: -1}
		if least := v.get("minContains"); least != nil && s.draft >= 2019 {
			c.least = s.count(least, n.place+"/minContains")
		}
		if most := v.get("maxContains"); most != nil && s.draft >= 2019 {
			c.most = s.most(most, n.place+"/maxContains")
		}
		n.contains = append(n.contains, c)
	case "minItems":
		n.minItems = s.count(arg, place)
	case "maxItems":
		n.maxItems = s.most(arg, place)
	case "uniqueItems":
		if arg.kind != valueTrue && arg.kind != valueFalse {
			s.malformed(place, "uniqueItems is true or false")
		}
		n.unique = arg.kind == valueTrue
	}
}

func (s *schema) nodeList(arg *value, place string) []*node {
	if arg.kind != valueArray {
		s.malformed(place, "a list of schemas is wanted")
		return nil
	}
	list := make([]*node, len(arg.items))
	for i, item := range arg.items {
		list[i] = s.node(item)
	}
	return list
}

func (s *schema) objectKeyword(n *node, key string, arg *value, place string) {
	if arg.kind != valueObject && (key == "properties" || key == "patternProperties" || strings.HasPrefix(key, "depend")) {
		s.malformed(place, "%s is an object", key)
		return
	}
	switch key {
	case "properties":
		for i, name := range arg.keys {
			n.props = append(n.props, property{name, s.node(arg.items[i])})
		}
	case "patternProperties":
		for i, text := range arg.keys {
			n.patternProps = append(n.patternProps, patternProperty{s.pattern(text, place), s.node(arg.items[i])})
		}
	case "additionalProperties":
		n.additional = s.node(arg)
	case "propertyNames":
		if s.draft >= 6 {
			n.names = s.node(arg)
		}
	case "required":
		n.required = append(n.required, s.names(arg, place)...)
	case "minProperties":
		n.minProps = s.count(arg, place)
	case "maxProperties":
		n.maxProps = s.most(arg, place)
	default:
		for i, name := range arg.keys {
			s.dependency(n, name, arg.items[i], place)
		}
	}
}

// names reads a list of names, each of which counts once. Draft 3 had true and false in place of lists, which some
// schemas still have; they say nothing now.
func (s *schema) names(arg *value, place string) (names []string) {
	if arg.kind == valueTrue || arg.kind == valueFalse {
		return nil
	}
	if arg.kind != valueArray {
		s.malformed(place, "a list of names is wanted")
		return nil
	}
	for _, v := range arg.items {
		if v.kind != valueString {
			s.malformed(place, "a name is a string")
			return nil
		}
		names = append(names, v.text)
	}
	return once(names)
}

// dependency says what an object holds that has a property: either it lacks it, or the schema holds too.
func (s *schema) dependency(n *node, name string, arg *value, place string) {
	without := s.newNode(place)
	without.props = []property{{name, s.nothing}}
	var then *node
	if arg.kind == valueArray {
		then = s.newNode(place)
		then.required = s.names(arg, place)
	} else {
		then = s.node(arg)
	}
	with := s.newNode(place)
	with.types, with.required = typeObject, []string{name}
	s.newChoice(n, []*node{without}, []*node{with, then})
}

// maxAlternatives bounds a choice. Each is followed on its own until an answer tells them apart.
const maxAlternatives = 1 << 13

// alternatives are the schemas of a choice.
func (s *schema) alternatives(arg *value, place string) []*node {
	if len(arg.items) > maxAlternatives {
		s.tooComplex(place, "%d alternatives, at most %d", len(arg.items), maxAlternatives)
		return nil
	}
	return s.nodeList(arg, place)
}

// constants are the values of alternatives that name one each and say nothing else, as an enum has them; nil for
// others.
func constants(alternatives *value) (values []*value) {
	if alternatives.kind != valueArray {
		return nil
	}
	for _, a := range alternatives.items {
		if a.kind != valueObject || len(a.keys) != 1 || a.keys[0] != "const" {
			return nil
		}
		values = append(values, a.items[0])
	}
	return values
}

func (s *schema) logicKeyword(n *node, v *value, key string, arg *value, place string) {
	switch key {
	case "$ref":
		n.all = append(n.all, s.refer(v, arg.text, place))
	case "allOf":
		n.all = append(n.all, s.nodeList(arg, place)...)
	case "anyOf":
		if values := constants(arg); values != nil && s.draft >= 6 {
			listed := s.newNode(place)
			listed.enum = &valueList{list: values}
			n.all = append(n.all, listed)
			return
		}
		list := s.alternatives(arg, place)
		alternatives := make([][]*node, len(list))
		for i, a := range list {
			alternatives[i] = []*node{a}
		}
		s.newChoice(n, alternatives...)
	case "oneOf":
		list := s.alternatives(arg, place)
		s.after(n, func() { s.oneOf(n, list) })
	case "not":
		n.all = append(n.all, s.not(s.node(arg)))
	case "if":
		if s.draft < 7 {
			return
		}
		condition, then, other := s.node(arg), s.anything, s.anything
		if t := v.get("then"); t != nil {
			then = s.node(t)
		}
		if e := v.get("else"); e != nil {
			other = s.node(e)
		}
		if then != s.anything || other != s.anything {
			s.newChoice(n, []*node{condition, then}, []*node{s.not(condition), other})
		}
	}
}
