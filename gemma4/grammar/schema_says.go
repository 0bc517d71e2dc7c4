package grammar

import "strings"

// says names the keywords that hold at once in a conjunction that nothing fits.
func (c *conjunction) says() string {
	var words []string
	for _, n := range c.nodes {
		words = append(words, n.keywords()...)
	}
	words = once(words)
	switch len(words) {
	case 0:
		return "its keywords leave no value; check type, anyOf, if, then and else"
	case 1:
		return words[0] + " leaves no value"
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last] + " do not fit together"
}

// keywords names the keywords by which a schema rules values out. Those of a schema's opposite are named by what they
// were turned into.
func (n *node) keywords() (words []string) {
	for _, k := range []struct {
		said bool
		word string
	}{
		{n.id == nothingID, "false"},
		{n.types != typeAny && n.types != 0, "type"},
		{n.enum != nil, "enum or const"},
		{len(n.notEnum.list) > 0 || n.negation != nil, "not"},
		{n.least != nil, "minimum"},
		{n.most != nil, "maximum"},
		{len(n.multiples) > 0 || len(n.notMultiples) > 0, "multipleOf"},
		{n.minLen > 0, "minLength"},
		{n.maxLen >= 0, "maxLength"},
		{len(n.patterns) > 0, "pattern or format"},
		{n.minItems > 0, "minItems"},
		{n.maxItems >= 0, "maxItems"},
		{len(n.prefix) > 0, "prefixItems"},
		{n.items != nil, "items"},
		{len(n.contains) > 0, "contains"},
		{n.unique, "uniqueItems"},
		{len(n.required) > 0, "required"},
		{n.minProps > 0, "minProperties"},
		{n.maxProps >= 0, "maxProperties"},
		{len(n.props) > 0, "properties"},
		{n.additional != nil, "additionalProperties"},
		{n.names != nil, "propertyNames"},
	} {
		if k.said {
			words = append(words, k.word)
		}
	}
	return words
}
