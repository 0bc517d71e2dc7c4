package grammar

import "math/bits"

// mask is a set of tokens: a list while it is short, else bits.
type mask struct {
	list  []int32
	bits  []uint64
	words []uint32 // in place of bits, when spread
}

// maxList is the number of tokens that are kept as a list.
const maxList = 2048

func (s *mask) or(dst []uint64) {
	for i, w := range s.bits {
		dst[i] |= w
	}
	for _, t := range s.list {
		dst[t>>6] |= 1 << (t & 63)
	}
}

func (s *mask) bytes() int { return 8*len(s.bits) + 4*len(s.list) + 4*len(s.words) + 72 }

// spread keeps bits as those who ask for masks want them, so that they are only copied.
func (s *mask) spread() {
	if s.bits == nil {
		return
	}
	s.words = make([]uint32, 0, 2*len(s.bits))
	for _, w := range s.bits {
		s.words = append(s.words, uint32(w), uint32(w>>32))
	}
	s.bits = nil
}

// maskOf keeps the tokens of words in the shorter form.
func maskOf(words []uint64) *mask {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	if n > maxList {
		return &mask{bits: append([]uint64(nil), words...)}
	}
	s := &mask{list: make([]int32, 0, n)}
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			s.list = append(s.list, int32(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return s
}

// localMask is what one state of a terminal says about all tokens, whatever comes behind the terminal.
type localMask struct {
	mask              // tokens that stay within the terminal
	leave    []uint32 // nodes of the trie where the terminal may end, and that have nodes below
	tooLeave bool     // those were too many to list
}

// maxLeave bounds the nodes that a localMask lists.
const maxLeave = 1 << 14

// wide tells whether a terminal is worth a mask of its own in some state: many bytes may come.
func wide(live *byteSet) bool { return live.len() > 40 }

// walker walks the trie; it holds what that needs.
type walker struct {
	v       *Vocabulary
	words   []uint64
	states  []regexID
	others  []regexID
	configs []*config
}

func newWalker(v *Vocabulary) *walker {
	return &walker{v: v, words: make([]uint64, (len(v.pieces)+63)/64),
		states: make([]regexID, v.depth+1), others: make([]regexID, v.depth+1), configs: make([]*config, v.depth+1)}
}

func (w *walker) allow(n *trieNode) {
	t := n.token
	if t < 0 {
		return
	}
	w.words[t>>6] |= 1 << (t & 63)
	if n.twins {
		for _, t := range w.v.twins[t] {
			w.words[t>>6] |= 1 << (t & 63)
		}
	}
}

// local finds the local mask of a state of a terminal.
func (w *walker) local(r *regexes, from regexID) *localMask {
	clear(w.words)
	l := &localMask{}
	trie := w.v.trie
	w.states[0] = from
	for i := uint32(0); i < uint32(len(trie)); {
		n := &trie[i]
		next := r.step(w.states[n.depth], n.byte)
		if next == regexNone {
			i = n.skip
			continue
		}
		w.allow(n)
		w.states[n.depth+1] = next
		if n.skip > i+1 && r.nullable(next) {
			if len(l.leave) < maxLeave {
				l.leave = append(l.leave, i)
			} else {
				l.tooLeave = true
			}
		}
		i++
	}
	l.mask = *maskOf(w.words)
	return l
}

// follow adds the tokens of nodes from to end that a config allows.
func (w *walker) follow(m *machine, c *config, from, end uint32) {
	trie := w.v.trie
	if from >= end {
		return
	}
	base := trie[from].depth
	w.configs[base] = c
	for i := from; i < end; {
		n := &trie[i]
		next := m.step(w.configs[n.depth], n.byte)
		if next == nil {
			i = n.skip
			continue
		}
		w.allow(n)
		w.configs[n.depth+1] = next
		i++
	}
}

// mask returns the tokens that may come at a config.
func (c *Constraint) maskOf(at *config) (*mask, error) {
	if at.mask != nil {
		return at.mask, nil
	}
	m, w := c.machine, c.walker
	var narrow []thread
	var locals []*localMask
	var beyond []*config
	for _, t := range at.threads {
		if !wide(m.prog.own.live(t.state)) {
			narrow = append(narrow, t)
			continue
		}
		l := c.local(t.state)
		m.prog.check(t.at)
		to := m.behind(t)
		if to != nil && to.live.onlyMarkers() { // which are tokens of their own
			to = nil
		}
		if l.tooLeave && to != nil {
			narrow = append(narrow, t)
			continue
		}
		locals = append(locals, l)
		beyond = append(beyond, to)
	}
	clear(w.words)
	for i, l := range locals {
		l.or(w.words)
		if to := beyond[i]; to != nil {
			for _, n := range l.leave {
				w.follow(m, to, n+1, w.v.trie[n].skip)
			}
		}
	}
	if len(narrow) > 0 && m.err == nil {
		w.follow(m, m.configOf(narrow, false), 0, uint32(len(w.v.trie)))
	}
	m.check()
	if m.err != nil {
		return nil, m.err
	}
	if at.accepts {
		for _, t := range w.v.ends {
			w.words[t>>6] |= 1 << (t & 63)
		}
	}
	out := maskOf(w.words)
	out.spread()
	at.mask = out
	m.bytes += out.bytes()
	return out, nil
}

// within is an expression that one token cannot tell from another: counts that are more than the bytes of the longest
// token are all the same to it. A text of at most 1000 characters then has the masks of one without a bound, but near
// its end. Intersections keep their counts, since what lies behind a token decides whether they match anything.
func (r *regexes) within(id regexID, depth int32) regexID {
	n := r.nodes[id]
	switch {
	case n.logic:
	case n.op == opConcat:
		if a := r.within(n.a, depth); a != n.a {
			return r.concat2(a, n.b)
		}
	case n.op == opRepeat && (n.min > depth+1 || n.max > depth):
		low, high := min(n.min, depth+1), n.max
		if high > depth {
			high = -1
		}
		return r.repeat(n.a, int(low), int(high))
	}
	return id
}

// maxLocalBytes bounds the local masks that a constraint keeps.
const maxLocalBytes = 1 << 24

// local returns the local mask of a state, kept with the vocabulary for the states that all JSON shares.
func (c *Constraint) local(state regexID) *localMask {
	v, own := c.vocabulary, c.machine.prog.own
	if int(state) < len(v.local) {
		v.once[state].Do(func() { v.local[state] = newWalker(v).local(v.base, state) })
		return v.local[state]
	}
	state = own.within(state, int32(v.depth))
	if l := c.locals[state]; l != nil {
		return l
	}
	own.live(state)
	var l *localMask
	if known, ok := c.similar(state); ok {
		l = c.walker.difference(own, state, known, c.local(known))
	} else {
		l = c.walker.local(own, state)
	}
	size := l.mask.bytes() + 4*len(l.leave)
	if c.localBytes += size; c.localBytes > maxLocalBytes {
		clear(c.locals)
		c.recent = c.recent[:0]
		c.localBytes = size
	}
	c.locals[state] = l
	if !l.tooLeave {
		c.remember(state)
	}
	return l
}
