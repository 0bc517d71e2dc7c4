package engine

import "slices"

// CheckpointEvery is how many tokens there are at most between two checkpoints of a text, and
// the most that are computed again after going back, where there is memory for it. Shorter
// sessions need none.
const CheckpointEvery = 1024

// Ring is what the caches of a model's sliding layers hold: the last Slots positions, of which
// a token sees Window, itself included.
type Ring struct{ Window, Slots int }

// holds says whether a ring that positions up to written went through still has what the token
// at position n sees.
func (r Ring) holds(n, written int) bool { return max(0, n-r.Window+1) >= r.oldest(written) }

func (r Ring) oldest(written int) int { return max(0, written-r.Slots) }

// leastCheckpointBytes is what checkpoints may take of any model's memory.
const leastCheckpointBytes = 64 << 20

// CheckpointSlots is how many checkpoints of a ring a session of context tokens keeps: so many
// that no two need be further apart than CheckpointEvery and what a ring reaches back
// behind its window, and two for the turns' starts; but together at most an eighth of the
// weights, or leastCheckpointBytes where that is more. bytes is the size of each.
func CheckpointSlots(context int, r Ring, bytes, weights int64) int {
	if context <= CheckpointEvery || r.Window == 0 || bytes == 0 {
		return 0
	}
	reach := CheckpointEvery + max(r.Slots-r.Window, 0)
	// Dropping one of n leaves a gap of two n-ths at most; see evict.
	n := (2*context+reach-1)/reach + 2
	return int(min(int64(n), max(leastCheckpointBytes, weights/8)/bytes))
}

// Checkpoint is a copy of the rings.
type Checkpoint struct {
	Slot    int  // where it lies
	End     int  // position behind the last of which it holds the keys and values of this text
	Written int  // the most positions that had gone through the rings
	Turn    bool // an answer began there
}

// Checkpoints keeps account of the copies of a session's rings, which serve to go back further
// than the rings reach. The copies are their owner's. It allocates nothing once it is made.
type Checkpoints struct {
	ring Ring
	free []int        // slots
	held []Checkpoint // by End
}

// NewCheckpoints keeps account of n copies.
func NewCheckpoints(n int, r Ring) *Checkpoints {
	c := &Checkpoints{ring: r, held: make([]Checkpoint, 0, n), free: make([]int, 0, n)}
	for slot := range n {
		c.free = append(c.free, slot)
	}
	return c
}

// Due says whether a text of n positions wants a checkpoint for its length alone.
func (c *Checkpoints) Due(n int) bool {
	last := 0
	if len(c.held) > 0 {
		last = c.held[len(c.held)-1].End
	}
	return n-last >= CheckpointEvery
}

// Add says where the rings are to be copied to, whose first end positions are the text's. Where
// all slots are taken, it forgets the checkpoint that is missed least. There may be none to
// take, or no need.
func (c *Checkpoints) Add(end, written int, turn bool) (slot int, ok bool) {
	c.Cut(end)
	if n := len(c.held); n > 0 && c.held[n-1].End == end {
		c.held[n-1].Turn = c.held[n-1].Turn || turn
		return 0, false
	}
	if end == 0 || !c.ring.holds(end, written) || len(c.free) == 0 && !c.evict(end, turn) {
		return 0, false
	}
	last := len(c.free) - 1
	slot, c.free = c.free[last], c.free[:last]
	c.held = append(c.held, Checkpoint{Slot: slot, End: end, Written: written, Turn: turn})
	return slot, true
}

// evict forgets the checkpoint that leaves the smallest gap once there is one at end, but not
// that of the last turn: the smallest is at most two n-ths of the text.
func (c *Checkpoints) evict(end int, turn bool) bool {
	keep := -1
	for i := len(c.held) - 1; i >= 0 && keep < 0 && !turn; i-- {
		if c.held[i].Turn {
			keep = i
		}
	}
	least, gap := -1, 0
	for i := range c.held {
		before, after := 0, end
		if i > 0 {
			before = c.held[i-1].End
		}
		if i+1 < len(c.held) {
			after = c.held[i+1].End
		}
		if i != keep && (least < 0 || after-before < gap) {
			least, gap = i, after-before
		}
	}
	if least >= 0 {
		c.remove(least)
	}
	return least >= 0
}

func (c *Checkpoints) remove(i int) {
	c.free = append(c.free, c.held[i].Slot)
	c.held = slices.Delete(c.held, i, i+1)
}

// Cut notes that what stood at position n and behind it is no longer the text's.
func (c *Checkpoints) Cut(n int) {
	for i := len(c.held) - 1; i >= 0 && c.held[i].End >= n; i-- {
		if c.held[i].End = n; n == 0 || !c.ring.holds(n, c.held[i].Written) {
			c.remove(i)
			continue
		}
		if i+1 == len(c.held) {
			continue
		}
		// Of two that end there, the one that reaches back further is kept.
		if c.held[i].Written <= c.held[i+1].Written {
			c.remove(i + 1)
		} else {
			c.remove(i)
		}
	}
}

// Back is the checkpoint that holds what the token at position n sees, or at the position
// nearest before it, and that position: 0 where there is none.
func (c *Checkpoints) Back(n int) (best Checkpoint, to int) {
	for _, p := range c.held {
		if at := min(n, p.End); at > to && c.ring.holds(at, p.Written) {
			best, to = p, at
		}
	}
	return best, to
}
