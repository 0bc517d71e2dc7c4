package gpu

import (
	"encoding/binary"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// pass is one over several texts that was submitted, with the choices behind it.
//
// The pass over what a step chooses is submitted before that is read, where the GPU can do
// without the host: what it chose lies where the next pass looks it up. So the GPU does not
// wait for the host between steps. A text that has ended meanwhile was computed for nothing.
type pass struct {
	slots  []int // by seat; noSlot where what was chosen counts no more
	read   *wgslkit.Readback
	bytes  int
	failed map[int]error // by slot
}

func (p *pass) seatOf(slot int) int {
	if p != nil {
		for seat, of := range p.slots {
			if of == slot {
				return seat
			}
		}
	}
	return noSeat
}

func (p *pass) forget(slot int) {
	if seat := p.seatOf(slot); seat != noSeat {
		p.slots[seat] = noSlot
	}
}

// hasAny says whether one of the texts of these turns is in the pass.
func (p *pass) hasAny(turns []engine.Turn) bool {
	for _, turn := range turns {
		if p.seatOf(turn.Slot) != noSeat {
			return true
		}
	}
	return false
}

// unseatOthers takes the seats of texts in a pass whose choice nobody asks for: their samplers
// know of it.
func (b *batch) unseatOthers(p *pass, turns []engine.Turn) {
	if p == nil {
		return
	}
	asked := map[int]bool{}
	for _, turn := range turns {
		asked[turn.Slot] = true
	}
	for _, slot := range p.slots {
		if slot != noSlot && !asked[slot] {
			b.unseat(slot)
		}
	}
}

func (p *pass) discard() {
	if p != nil {
		p.read.Discard()
	}
}

// discardPending drops the pass that is under way.
func (b *batch) discardPending() {
	b.pending.discard()
	b.pending = nil
}

// submitNext submits the pass behind one that was not read yet: over what that chooses for the
// texts that go on, and over those that come.
func (b *batch) submitNext(turns []engine.Turn, now *pass) (err error) {
	if b.engine.plan.Rows > 0 {
		return nil // the host looks up each token's row
	}
	var next []int
	for _, turn := range turns {
		text := &b.slots[turn.Slot]
		switch ofNow := now.seatOf(turn.Slot) != noSeat; {
		case text.masks != nil || text.host != nil:
			return nil // the host has a part in the choice
		case ofNow && (turn.Last || len(text.history) >= b.sizing.context):
		default:
			next = append(next, turn.Slot)
		}
	}
	// One that would have to change its seat left what it chose at the old one.
	for _, slot := range next {
		if seat := now.seatOf(slot); seat >= len(next) {
			return nil
		}
	}
	if len(next) > 0 {
		b.pending, err = b.submit(next, now)
	}
	return err
}

// submit brings texts to the first seats and submits a pass over the last token of each, with
// the choice behind it. What before chooses, which may be under way, is such a token.
func (b *batch) submit(slots []int, before *pass) (*pass, error) {
	if err := b.seatAll(slots); err != nil {
		return nil, err
	}
	n := len(slots)
	p := &pass{slots: make([]int, n), bytes: int(b.seats[0].sampler.ResultBytes()) * n, failed: map[int]error{}}
	for i, s := range b.seats[:n] {
		p.slots[i] = s.slot
	}
	if err := b.feedPass(p.slots, before); err != nil {
		return nil, err
	}
	if err := b.passFor(n).Submit(n); err != nil {
		return nil, err
	}
	all, err := b.chooseAll(n)
	for i := 0; i < n && !all && err == nil; i++ {
		err = b.chooseBehind(i, p.failed)
	}
	if err == nil {
		p.read, err = b.results.StartRead(0, int64(p.bytes))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// feedPass writes the rows' places, and those of their tokens that the host knows.
func (b *batch) feedPass(slots []int, before *pass) error {
	raw := make([]byte, 4*ops.StateWordsOf(len(slots)))
	binary.LittleEndian.PutUint32(raw[4*ops.StateWidth:], uint32(len(slots)))
	binary.LittleEndian.PutUint32(raw[4*ops.StateStreams:], uint32(len(b.slots)))
	tokens := make([]int32, len(slots))
	for i, slot := range slots {
		text := &b.slots[slot]
		position := text.cached
		tokens[i] = text.history[len(text.history)-1]
		if before.seatOf(slot) != noSeat {
			position++
		} else if err := b.rows.tokens.Write(int64(4*i), words(tokens[i:i+1])); err != nil {
			return err
		}
		text.written = max(text.written, position+1)
		at := 4 * (ops.StateRows + 2*i)
		binary.LittleEndian.PutUint32(raw[at:], uint32(position))
		binary.LittleEndian.PutUint32(raw[at+4:], uint32(slot))
	}
	if before == nil {
		if err := b.engine.feedRows(b.rows, tokens); err != nil {
			return err
		}
	}
	return b.words.Write(0, raw)
}
