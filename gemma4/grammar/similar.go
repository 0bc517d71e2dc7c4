package grammar

import "slices"

// maxRecent bounds the states that new ones are compared with.
const maxRecent = 24

// remember keeps a state to compare others with.
func (c *Constraint) remember(state regexID) {
	if len(c.recent) == maxRecent {
		copy(c.recent, c.recent[1:])
		c.recent = c.recent[:maxRecent-1]
	}
	c.recent = append(c.recent, state)
}

// similar finds a state whose local mask is known, from which that of another differs in less than has to be walked
// without it. States of strings mostly differ in what follows a few names.
func (c *Constraint) similar(state regexID) (best regexID, found bool) {
	v, own := c.vocabulary, c.machine.prog.own
	next := &own.state(state).next
	least := 0
	for b, to := range next {
		if to != regexNone {
			least += int(v.below[b])
		}
	}
	try := func(known regexID) {
		cost := 0
		for b, to := range &own.state(known).next {
			if to != next[b] {
				cost += int(v.below[b])
			}
		}
		if cost < least {
			best, least, found = known, cost, true
		}
	}
	for _, known := range v.strings {
		try(known)
	}
	for _, known := range c.recent {
		try(known)
	}
	return best, found
}

// difference finds the local mask of a state by way of that of another: only where the two lead to different states is
// the trie walked.
func (w *walker) difference(r *regexes, from, known regexID, of *localMask) *localMask {
	clear(w.words)
	of.or(w.words)
	l := &localMask{leave: make([]uint32, 0, len(of.leave))}
	old := of.leave // what is left of it
	keep := func(before uint32) {
		n, _ := slices.BinarySearch(old, before)
		l.leave, old = append(l.leave, old[:n]...), old[n:]
	}
	drop := func(before uint32) {
		n, _ := slices.BinarySearch(old, before)
		old = old[n:]
	}
	trie := w.v.trie
	w.states[0], w.others[0] = from, known
	for i := uint32(0); i < uint32(len(trie)); {
		n := &trie[i]
		next, other := r.step(w.states[n.depth], n.byte), r.step(w.others[n.depth], n.byte)
		if next == other {
			i = n.skip
			continue
		}
		keep(i)
		if next == regexNone {
			w.forbid(i, n.skip)
			drop(n.skip)
			i = n.skip
			continue
		}
		drop(i + 1)
		w.allow(n)
		w.states[n.depth+1], w.others[n.depth+1] = next, other
		if n.skip > i+1 && r.nullable(next) {
			l.leave = append(l.leave, i)
		}
		i++
	}
	keep(uint32(len(trie)))
	l.tooLeave = len(l.leave) > maxLeave
	l.mask = *maskOf(w.words)
	return l
}

// forbid takes out the tokens of a part of the trie.
func (w *walker) forbid(from, end uint32) {
	for i := from; i < end; i++ {
		if n := &w.v.trie[i]; n.token >= 0 {
			w.words[n.token>>6] &^= 1 << (n.token & 63)
			if n.twins {
				for _, t := range w.v.twins[n.token] {
					w.words[t>>6] &^= 1 << (t & 63)
				}
			}
		}
	}
}
