package grammar

import "math/big"

// types is a set of the types of JSON values. Numbers are split in two: integers are a type of JSON Schema.
type types uint8

const (
	typeNull types = 1 << iota
	typeFalse
	typeTrue
	typeInteger
	typeFraction // numbers that are no integers
	typeString
	typeArray
	typeObject

	typeBoolean = typeFalse | typeTrue
	typeNumber  = typeInteger | typeFraction
	typeAny     = typeNull | typeBoolean | typeNumber | typeString | typeArray | typeObject
)

// node is one schema object: what it says itself, and what it refers to. Nodes are read when first needed, since $ref
// may lead anywhere.
type node struct {
	id    int32
	place string // JSON pointer
	types types

	enum    *valueList // nil: not said
	notEnum valueList

	least, most    *bound
	multiples      []*big.Rat
	notMultiples   []*big.Rat
	minLen, maxLen int // characters; maxLen < 0: not said
	patterns       []stringPattern
	prefix         []*node
	items          *node // behind prefix
	contains       []contained
	minItems       int
	maxItems       int // < 0: not said
	unique         bool
	props          []property
	propAt         map[string]*node // props by name, once one of many was asked for
	patternProps   []patternProperty
	additional     *node
	names          *node
	some           []someProperty
	required       []string
	minProps       int
	maxProps       int // < 0: not said
	all            []*node
	choices        []*choice
	negation       *node

	// refusal, where set, says why the schema cannot be honoured for values of its types.
	refusal string
	// later adds what can be said only when all nodes are read.
	later func()
}

// nothingID is the id of the schema false, the second node of all.
const nothingID = 1

// property is a declared property.
type property struct {
	name string
	node *node
}

// patternProperty says what properties hold whose names match.
type patternProperty struct {
	pattern stringPattern
	node    *node
}

// someProperty says that one property has a name that matches and a value that fits.
type someProperty struct {
	pattern stringPattern
	node    *node
}

// contained says how many items from a place on fit a schema.
type contained struct {
	node  *node
	least int
	most  int // < 0: no bound
	from  int
}

// stringPattern is a pattern that texts match, or do not.
type stringPattern struct {
	text string // as the schema has it, for errors
	id   regexID
	not  bool
}

// bound is a limit of numbers.
type bound struct {
	at     *big.Rat
	strict bool
}

// choice is a set of alternatives, at least one of which holds. Each is a list of schemas that all hold.
type choice struct {
	id           int32
	alternatives [][]*node
}

func (s *schema) newNode(place string) *node {
	if len(s.nodes) >= maxNodes {
		s.tooComplex(place, "the schema has over %d parts", maxNodes)
	}
	n := &node{id: int32(len(s.nodes)), place: place, types: typeAny, maxLen: -1, maxItems: -1, maxProps: -1}
	s.nodes = append(s.nodes, n)
	return n
}

func (s *schema) newChoice(n *node, alternatives ...[]*node) {
	s.choiceCount++
	n.choices = append(n.choices, &choice{id: s.choiceCount, alternatives: alternatives})
}

// maxNodes bounds the nodes of one schema, those of its negations among them.
const maxNodes = 1 << 18

// property finds a declared property.
func (n *node) property(name string) *node {
	if len(n.props) > maxScanned {
		if n.propAt == nil {
			n.propAt = make(map[string]*node, len(n.props))
			for _, p := range n.props {
				n.propAt[p.name] = p.node
			}
		}
		return n.propAt[name]
	}
	for _, p := range n.props {
		if p.name == name {
			return p.node
		}
	}
	return nil
}
