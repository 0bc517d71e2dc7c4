package gemma4

import (
	"cmp"
	"slices"
)

// slot is a place for a text in a batch: that of a stream, or one that was computed and is
// kept for prompts that begin like it.
type slot struct {
	text    Prompt // its computed part and, of a stream, the token behind it
	running bool
	kept    bool  // it is the beginning of several prompts, and no text goes on in it
	used    int64 // the turn in which it was used last
}

// leastShared is how many tokens two prompts have to begin with alike for that to be worth a
// copy, or the wait for it.
const leastShared = 32

// likeness is how much of a prompt a slot holds.
type likeness struct{ slot, same int }

// place gives a stream a slot, with as much of its prompt as there is.
func (l *batchLoop) place(s *stream) error {
	found := l.likenesses(s)
	to := l.slotFor(found)
	reused, err := l.reuse(to, found)
	if err != nil {
		return err
	}
	if reused == 0 {
		l.engine.Rewind(to, 0)
	}
	l.slots[to] = slot{text: s.prompt.until(reused), running: true, used: l.turns}
	s.slot = to
	s.placed(reused)
	// What could have been shared and is no longer there, or was never kept by itself, is
	// kept when it is computed.
	if same := found[0].same; same >= leastShared && same > reused {
		s.keepAt = same
	}
	return nil
}

// likenesses are those of all slots, the most alike first.
func (l *batchLoop) likenesses(s *stream) []likeness {
	var all []likeness
	for i := range l.slots {
		same := min(commonPrefix(&l.slots[i].text, &s.prompt), len(s.prompt.Tokens)-1)
		all = append(all, likeness{i, s.uncut(same)})
	}
	slices.SortStableFunc(all, func(a, b likeness) int { return cmp.Compare(b.same, a.same) })
	return all
}

// uncut is n, or fewer positions, so that no picture that is seen at once is cut.
func (s *stream) uncut(n int) int {
	for i := range s.piece.Soft {
		if r := &s.piece.Soft[i]; r.Mutual && r.First < n && n < r.End() {
			return r.First
		}
	}
	return n
}

// slotFor is where a text may go: on in a slot of which it keeps the most part, or in the
// one that was used longest ago.
func (l *batchLoop) slotFor(found []likeness) int {
	for _, f := range found {
		if at := &l.slots[f.slot]; !at.running && !at.kept && f.same > 0 && 2*f.same >= len(at.text.Tokens) {
			return f.slot
		}
	}
	return l.oldest(false)
}

// oldest is the slot that was used longest ago, nowhere for none: of those that are kept, or
// of the others that are not running.
func (l *batchLoop) oldest(kept bool) int {
	best := nowhere
	for i := range l.slots {
		if at := &l.slots[i]; !at.running && at.kept == kept && (best == nowhere || at.used < l.slots[best].used) {
			best = i
		}
	}
	return best
}

// reuse brings the most of what was found to a slot, and returns how much.
func (l *batchLoop) reuse(to int, found []likeness) (int, error) {
	for _, f := range found {
		if f.slot == to {
			same := min(f.same, l.engine.Len(to))
			if kept := l.engine.Rewind(to, same); kept > 0 {
				return kept, nil
			}
			continue
		}
		same := min(f.same, l.engine.Len(f.slot))
		if same < leastShared {
			continue
		}
		kept, err := l.engine.Copy(to, f.slot, same)
		if err != nil {
			return 0, err
		}
		if kept > 0 {
			l.slots[f.slot].used = l.turns
			return kept, nil
		}
	}
	return 0, nil
}

// keep copies what is computed of a prompt, as far as others begin like it, to a slot that
// nobody uses, where there is one.
func (l *batchLoop) keep(s *stream) {
	n := s.keepAt
	s.keepAt = 0
	to := l.oldest(l.countKept() >= len(l.slots)-l.streams)
	if to == nowhere {
		return
	}
	// A fault of the copy is none of the stream's.
	if kept, err := l.engine.Copy(to, s.slot, n); err == nil && kept == n {
		l.slots[to] = slot{text: s.prompt.until(n), used: l.turns, kept: true}
	} else {
		l.engine.Rewind(to, 0)
		l.slots[to] = slot{}
	}
}

// countKept is how many slots are kept: at most as many as there are besides the streams'.
func (l *batchLoop) countKept() (n int) {
	for i := range l.slots {
		if l.slots[i].kept {
			n++
		}
	}
	return n
}

// forgetAll is after the caches were emptied, under other adapters. No prompt is under way
// then that has a slot.
func (l *batchLoop) forgetAll() {
	for i := range l.slots {
		l.slots[i] = slot{}
	}
}
