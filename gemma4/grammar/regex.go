package grammar

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// regexID is a regular expression over bytes within its regexes. It is a state of the automaton as well: the
// state after
// some bytes is the derivative of the expression by them.
type regexID int32

// The expressions that every set holds.
const (
	regexNone  regexID = iota // ∅, which matches nothing
	regexEmpty                // ε, which matches the empty text
)

type regexOp uint8

const (
	opNone     regexOp = iota
	opEmpty            // ε
	opSet              // one byte of a set
	opLiteral          // a text from an offset on
	opConcat           // a then b
	opOr               // any of a list
	opAnd              // all of a list
	opNot              // not a
	opRepeat           // a, from min to max times (max < 0: without end)
	opMultiple         // a decimal number that is a multiple; see multiple.go
)

// regexNode is an expression; which fields count depends on op.
type regexNode struct {
	op       regexOp
	nullable bool // it matches the empty text
	logic    bool // it holds an opAnd or opNot, so that being ∅ does not show
	a, b     regexID
	min, max int32
	set      byteSet
	text     string
	list     []regexID
	multiple multiple
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte)       { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool  { return s[b>>6]&(1<<(b&63)) != 0 }
func (s *byteSet) union(o *byteSet) { s[0] |= o[0]; s[1] |= o[1]; s[2] |= o[2]; s[3] |= o[3] }
func (s *byteSet) empty() bool      { return s[0]|s[1]|s[2]|s[3] == 0 }
func (s *byteSet) addRange(lo, hi int) {
	for b := lo; b <= hi; b++ {
		s.add(byte(b))
	}
}

func (s *byteSet) len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// first is the least byte of a set that is not empty.
func (s *byteSet) first() byte {
	for i, w := range s {
		if w != 0 {
			return byte(64*i + bits.TrailingZeros64(w))
		}
	}
	return 0
}

func setOf(text string) (s byteSet) {
	for i := range len(text) {
		s.add(text[i])
	}
	return s
}

func setRange(lo, hi int) (s byteSet) {
	s.addRange(lo, hi)
	return s
}

// maxRegexes bounds the expressions of one constraint, states of automata among them.
const maxRegexes = 1 << 19

// maxStates bounds the states of automata of one constraint, of about 1 kB each.
const maxStates = 1 << 16

// maxEmptiness bounds the states that one question whether an expression is ∅ may visit.
const maxEmptiness = 1 << 15

// regexes is a set of expressions, equal ones kept once, with the automaton of their derivatives.
// The first failure (a limit) sticks in err; all expressions made after it are ∅.
type regexes struct {
	nodes   []regexNode
	index   map[string]regexID
	base    *regexes // whose expressions these begin with, all of their states made; nil for those themselves
	states  []*regexState
	alive   map[regexID]bool // answers of nonEmpty
	key     []byte
	parts   []byteSet // of classesOf
	steps   int       // nodes visited by derivatives, bounded in all
	limit   int
	visited int
	ended   func() error // whether what is being compiled is still wanted; nil for what is compiled
	err     error
}

// regexState is what is known of an expression as a state.
type regexState struct {
	live byteSet // bytes after which a match is still possible; complete when ready
	next [256]regexID
	done bool
}

func newRegexes() *regexes {
	r := &regexes{index: map[string]regexID{}, alive: map[regexID]bool{}, limit: maxRegexes}
	r.intern(regexNode{op: opNone})
	r.intern(regexNode{op: opEmpty, nullable: true})
	return r
}

// extended returns expressions that begin with those of r, which must not change any more.
func (r *regexes) extended() *regexes {
	return &regexes{nodes: slices.Clip(r.nodes), states: slices.Clip(r.states), base: r, index: map[string]regexID{},
		alive: map[regexID]bool{}, limit: len(r.nodes) + maxRegexes}
}

// intern returns the id of a node, a new one if no equal node is there.
func (r *regexes) intern(n regexNode) regexID {
	k := append(r.key[:0], byte(n.op))
	k = binary.AppendVarint(k, int64(n.a))
	k = binary.AppendVarint(k, int64(n.b))
	switch n.op {
	case opRepeat:
		k = binary.AppendVarint(k, int64(n.min))
		k = binary.AppendVarint(k, int64(n.max))
	case opSet:
		for _, w := range n.set {
			k = binary.LittleEndian.AppendUint64(k, w)
		}
	case opLiteral:
		k = append(k, n.text...)
	case opOr, opAnd:
		for _, x := range n.list {
			k = binary.AppendVarint(k, int64(x))
		}
	case opMultiple:
		k = n.multiple.appendKey(k)
	}
	r.key = k
	if r.base != nil {
		if id, ok := r.base.index[string(k)]; ok {
			return id
		}
	}
	if id, ok := r.index[string(k)]; ok {
		return id
	}
	if len(r.nodes) >= r.limit {
		r.fail(fmt.Errorf("%w: its regular expressions have over %d states", ErrTooComplex, r.limit))
	}
	if r.err != nil {
		return regexNone
	}
	id := regexID(len(r.nodes))
	r.index[string(k)] = id
	r.nodes = append(r.nodes, n)
	r.states = append(r.states, nil)
	return id
}

func (r *regexes) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *regexes) nullable(id regexID) bool { return r.nodes[id].nullable }

func (r *regexes) set(s byteSet) regexID {
	if s.empty() {
		return regexNone
	}
	return r.intern(regexNode{op: opSet, set: s})
}

func (r *regexes) literal(text string) regexID {
	switch len(text) {
	case 0:
		return regexEmpty
	case 1: // so that bytes that stand for each other become one set
		return r.set(setRange(int(text[0]), int(text[0])))
	}
	return r.intern(regexNode{op: opLiteral, text: text})
}

func (r *regexes) concat(list ...regexID) regexID {
	out := regexEmpty
	for i := len(list) - 1; i >= 0; i-- {
		out = r.concat2(list[i], out)
	}
	return out
}

func (r *regexes) concat2(a, b regexID) regexID {
	switch {
	case a == regexNone || b == regexNone:
		return regexNone
	case a == regexEmpty:
		return b
	case b == regexEmpty:
		return a
	}
	x, y := &r.nodes[a], &r.nodes[b]
	if x.op == opConcat { // to the right, so that equal texts are equal expressions
		return r.concat2(x.a, r.concat2(x.b, b))
	}
	return r.intern(regexNode{op: opConcat, a: a, b: b, nullable: x.nullable && y.nullable, logic: x.logic || y.logic})
}

func (r *regexes) optional(a regexID) regexID { return r.or(regexEmpty, a) }
func (r *regexes) star(a regexID) regexID     { return r.repeat(a, 0, -1) }

// repeat is a, min to max times; max < 0 is without end.
func (r *regexes) repeat(a regexID, low, high int) regexID {
	switch {
	case high >= 0 && low > high:
		return regexNone
	case high == 0 || a == regexEmpty:
		return regexEmpty
	case a == regexNone:
		if low == 0 {
			return regexEmpty
		}
		return regexNone
	case low == 1 && high == 1:
		return a
	}
	if r.nodes[a].nullable {
		low = 0
	}
	if n := &r.nodes[a]; n.op == opRepeat && n.min == 0 && n.max < 0 {
		return a
	}
	return r.intern(regexNode{op: opRepeat, a: a, min: int32(low), max: int32(high),
		nullable: low == 0, logic: r.nodes[a].logic})
}

func (r *regexes) or(list ...regexID) regexID  { return r.combine(opOr, list) }
func (r *regexes) and(list ...regexID) regexID { return r.combine(opAnd, list) }

// combine makes a union or an intersection: flat, sorted, without doubles, single bytes merged.
func (r *regexes) combine(op regexOp, list []regexID) regexID {
	flat := make([]regexID, 0, len(list))
	for _, x := range list {
		if r.nodes[x].op == op {
			flat = append(flat, r.nodes[x].list...)
		} else {
			flat = append(flat, x)
		}
	}
	slices.Sort(flat)
	flat = slices.Compact(flat)
	if op == opOr {
		flat = r.mergeSets(flat)
	} else if slices.Contains(flat, regexNone) {
		return regexNone
	} else if slices.Contains(flat, regexEmpty) {
		for _, x := range flat {
			if !r.nodes[x].nullable {
				return regexNone
			}
		}
		return regexEmpty
	}
	all := r.not(regexNone)
	kept := flat[:0]
	for _, x := range flat {
		switch {
		case x == all && op == opOr:
			return all
		case x == all, op == opOr && x == regexNone:
		default:
			kept = append(kept, x)
		}
	}
	switch {
	case len(kept) == 1:
		return kept[0]
	case len(kept) == 0 && op == opOr:
		return regexNone
	case len(kept) == 0:
		return all
	}
	n := regexNode{op: op, list: kept, logic: op == opAnd, nullable: op == opAnd}
	for _, x := range kept {
		n.logic = n.logic || r.nodes[x].logic
		if r.nodes[x].nullable != n.nullable {
			n.nullable = op == opOr
		}
	}
	return r.intern(n)
}

func (r *regexes) mergeSets(list []regexID) []regexID {
	var set byteSet
	kept := list[:0]
	count := 0
	for _, x := range list {
		if r.nodes[x].op == opSet {
			set.union(&r.nodes[x].set)
			count++
		} else {
			kept = append(kept, x)
		}
	}
	if count > 0 {
		kept = append(kept, r.set(set))
		slices.Sort(kept)
	}
	return kept
}

func (r *regexes) not(a regexID) regexID {
	if n := &r.nodes[a]; n.op == opNot {
		return n.a
	}
	return r.intern(regexNode{op: opNot, a: a, nullable: !r.nodes[a].nullable, logic: true})
}

// maxDerivative bounds the nodes that all derivatives of one set of expressions visit.
const maxDerivative = 1 << 24

// heed fails where nobody waits for what is being compiled any more.
func (r *regexes) heed() {
	if r.ended == nil {
		return
	}
	if err := r.ended(); err != nil {
		r.fail(err)
	}
}

// derive is the derivative of an expression by a byte: what may follow it.
func (r *regexes) derive(id regexID, c byte) regexID {
	if r.steps++; r.steps > maxDerivative {
		r.fail(fmt.Errorf("%w: its regular expressions take too long", ErrTooComplex))
	} else if r.steps%(1<<12) == 0 {
		r.heed()
	}
	if r.err != nil {
		return regexNone
	}
	n := r.nodes[id] // a copy: nodes may move
	switch n.op {
	case opSet:
		if n.set.has(c) {
			return regexEmpty
		}
	case opLiteral:
		if n.text[0] == c {
			return r.literal(n.text[1:])
		}
	case opConcat:
		out := r.concat2(r.derive(n.a, c), n.b)
		if r.nullable(n.a) {
			out = r.or(out, r.derive(n.b, c))
		}
		return out
	case opOr, opAnd:
		list := make([]regexID, 0, len(n.list))
		for _, x := range n.list {
			d := r.derive(x, c)
			if d == regexNone && n.op == opAnd {
				return regexNone
			}
			if d != regexNone {
				list = append(list, d)
			}
		}
		return r.combine(n.op, list)
	case opNot:
		return r.not(r.derive(n.a, c))
	case opRepeat:
		high := int(n.max)
		if high > 0 {
			high--
		}
		return r.concat2(r.derive(n.a, c), r.repeat(n.a, max(int(n.min)-1, 0), high))
	case opMultiple:
		if next, ok := n.multiple.step(c); ok {
			return r.intern(regexNode{op: opMultiple, multiple: next, nullable: next.accepts()})
		}
	}
	return regexNone
}

// step is derive, with ∅ recognized where it does not show.
func (r *regexes) step(id regexID, c byte) regexID {
	s := r.state(id)
	if s.done {
		return s.next[c]
	}
	return r.slowStep(s, id, c)
}

// unknown marks a derivative that was not made yet.
const unknown regexID = -1

func (r *regexes) slowStep(s *regexState, id regexID, c byte) regexID {
	next := s.next[c]
	if next == unknown {
		next = r.derive(id, c)
		if next != regexNone && r.nodes[next].logic && !r.nonEmpty(next) {
			next = regexNone
		}
		s.next[c] = next
	}
	return next
}

func (r *regexes) state(id regexID) *regexState {
	if s := r.states[id]; s != nil {
		return s
	}
	if r.visited++; r.visited > maxStates {
		r.fail(fmt.Errorf("%w: its regular expressions have over %d states", ErrTooComplex, maxStates))
	}
	s := &regexState{}
	for i := range s.next {
		s.next[i] = unknown
	}
	r.states[id] = s
	return s
}

// renew gives the next token of an answer all of the work that the limits allow, and forgets states where they are
// many: what is asked of them again is made again.
func (r *regexes) renew() {
	r.steps = 0
	if r.visited > maxStates/2 {
		r.visited = 0
		clear(r.states[r.first():])
	}
}

// first is the first expression that is not the base's.
func (r *regexes) first() int {
	if r.base == nil {
		return 0
	}
	return len(r.base.nodes)
}

// live is the set of bytes that may come next.
func (r *regexes) live(id regexID) *byteSet {
	s := r.state(id)
	if !s.done {
		for _, class := range slices.Clone(r.classesOf(id)) { // slowStep may ask for others
			next := r.slowStep(s, id, class.first())
			if next != regexNone {
				s.live.union(&class)
			}
			for i, word := range class {
				for ; word != 0; word &= word - 1 {
					s.next[64*i+bits.TrailingZeros64(word)] = next
				}
			}
		}
		s.done = true
	}
	return &s.live
}

// classesOf splits bytes into classes of the same derivative: bytes of one class lie in the same of all the sets that
// the derivative of id looks at. They are valid until the next call.
func (r *regexes) classesOf(id regexID) []byteSet {
	r.parts = append(r.parts[:0], byteSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)})
	r.split(id)
	return r.parts
}

func (r *regexes) split(id regexID) {
	n := &r.nodes[id]
	switch n.op {
	case opSet:
		r.refine(&n.set)
	case opLiteral:
		s := setRange(int(n.text[0]), int(n.text[0]))
		r.refine(&s)
	case opConcat:
		r.split(n.a)
		if r.nullable(n.a) {
			r.split(n.b)
		}
	case opOr, opAnd:
		for _, x := range n.list {
			r.split(x)
		}
	case opNot, opRepeat:
		r.split(n.a)
	case opMultiple:
		for _, c := range "0123456789.-" {
			s := setRange(int(c), int(c))
			r.refine(&s)
		}
	}
}

// refine splits each class by a set.
func (r *regexes) refine(set *byteSet) {
	for i := range r.parts {
		class := &r.parts[i]
		in := byteSet{class[0] & set[0], class[1] & set[1], class[2] & set[2], class[3] & set[3]}
		if in == (byteSet{}) || in == *class {
			continue
		}
		out := byteSet{class[0] &^ set[0], class[1] &^ set[1], class[2] &^ set[2], class[3] &^ set[3]}
		*class = in
		r.parts = append(r.parts, out)
	}
}

// nonEmpty tells whether an expression matches any text at all: it looks for a way to a nullable derivative.
func (r *regexes) nonEmpty(id regexID) bool {
	if id == regexNone {
		return false
	}
	if r.surely(id) {
		return true
	}
	if known, ok := r.alive[id]; ok {
		return known
	}
	if n := r.nodes[id]; n.op == opConcat { // parted, so that no ways through both are looked for
		known := r.nonEmpty(n.a) && r.nonEmpty(n.b)
		r.alive[id] = known
		return known
	}
	from := map[regexID]regexID{id: unknown}
	for todo := []regexID{id}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, class := range r.classesOf(at) {
			next := r.derive(at, class.first())
			if _, seen := from[next]; seen || next == regexNone {
				continue
			}
			from[next] = at
			if known, ok := r.alive[next]; known || r.surely(next) {
				for ; next != unknown; next = from[next] {
					r.alive[next] = true
				}
				return true
			} else if ok {
				continue
			}
			if todo = append(todo, next); len(from) > maxEmptiness {
				r.fail(fmt.Errorf("%w: an intersection of patterns has over %d states", ErrTooComplex, maxEmptiness))
				return false
			}
		}
	}
	for x := range from {
		r.alive[x] = false
	}
	return false
}

// surely tells whether it shows that an expression matches a text.
func (r *regexes) surely(id regexID) bool {
	for {
		n := &r.nodes[id]
		switch {
		case n.nullable || !n.logic && id != regexNone:
			return true
		case n.op != opConcat || !r.surely(n.a):
			return false
		}
		id = n.b
	}
}

// or of texts, with what they begin with in common kept once.
func (r *regexes) literals(texts []string) regexID {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	return r.sortedLiterals(slices.Compact(texts), 0)
}

func (r *regexes) sortedLiterals(texts []string, from int) regexID {
	var list []regexID
	for i := 0; i < len(texts); {
		if len(texts[i]) == from {
			list = append(list, regexEmpty)
			i++
			continue
		}
		j := i + 1
		for j < len(texts) && texts[j][from] == texts[i][from] {
			j++
		}
		first, last := texts[i], texts[j-1]
		same := from + 1
		for same < len(first) && same < len(last) && first[same] == last[same] {
			same++
		}
		if j == i+1 {
			list = append(list, r.literal(first[from:]))
		} else {
			list = append(list, r.concat2(r.literal(first[from:same]), r.sortedLiterals(texts[i:j], same)))
		}
		i = j
	}
	return r.or(list...)
}
