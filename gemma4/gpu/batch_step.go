package gpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// seat is what chooses behind one row of a pass. Texts keep their seats from step to step
// as long as those before them are taken.
type seat struct {
	slot    int             // noSlot for none
	words   *wgslkit.Buffer // the sampler's own position
	token   *wgslkit.Buffer // what it chose
	logits  *wgslkit.Buffer // the row, where it has to be copied; nil where it is bound where it lies
	sampler *ops.Sampler
	choose  *ops.Recording
	masked  *ops.Recording // nil until the first answer with masks
}

const noSlot = -1

// newSeats makes a seat for each row that there may be.
func (b *batch) newSeats() error {
	e, c := b.engine, b.engine.model.Config
	for i := range b.options.Streams {
		s := &seat{slot: noSlot}
		b.seats = append(b.seats, s)
		options := ops.SamplerOptions{
			Vocab: c.Vocab, History: b.sizing.context, MaxLogProbs: ops.MaxLogProbs, Results: 1,
		}
		if i > 0 {
			options.Shares = b.seats[0].sampler
		}
		var err error
		if s.sampler, err = e.kit.NewSampler(options); err != nil {
			return err
		}
		if s.words, err = e.device.NewBuffer("state", wgslkit.Activations, 4*ops.StateWords); err != nil {
			return err
		}
		if s.token, err = e.device.NewBuffer("token", wgslkit.Activations, 4); err != nil {
			return err
		}
	}
	bytes := b.seats[0].sampler.ResultBytes()
	b.raw = make([]byte, bytes*int64(len(b.seats)))
	var err error
	if b.results, err = e.device.NewBuffer("choices", wgslkit.Activations, int64(len(b.raw))); err != nil {
		return err
	}
	for i := range b.seats {
		if err := b.recordSeat(i); err != nil {
			return err
		}
	}
	return b.recordChoices()
}

// recordSeat records the choice from a row of logits, which are bound where they lie where
// the device can do so.
func (b *batch) recordSeat(i int) (err error) {
	s, row := b.seats[i], int64(4*b.engine.model.Config.Vocab)
	at := int64(i) * row
	if align := max(int64(b.engine.device.Limits().MinStorageAlignment), 1); at%align != 0 {
		if s.logits, err = b.engine.device.NewBuffer("logits of a row", wgslkit.Activations, row); err != nil {
			return err
		}
	}
	s.choose, err = b.chooseOf(i, false)
	return err
}

func (b *batch) chooseOf(i int, masked bool) (*ops.Recording, error) {
	r := b.engine.kit.Record("choose", 1, b.seats[i].words)
	b.choose(r, i, masked)
	b.bring(r, i)
	return r.Finish()
}

// choose records the choice of a seat.
func (b *batch) choose(r *ops.Recorder, i int, masked bool) {
	s, row := b.seats[i], int64(4*b.engine.model.Config.Vocab)
	logits := s.logits
	if logits == nil {
		logits = b.rows.logits.Part(int64(i)*row, row)
	} else {
		r.CopyBytes(b.rows.logits, logits, int64(i)*row, 0, row)
	}
	r.Sample(ops.Sample{Label: "sample", Logits: logits, Tokens: s.token, Sampler: s.sampler, Masked: masked})
}

// bring records that what a seat chose is brought to the results, and to the next pass.
func (b *batch) bring(r *ops.Recorder, i int) {
	s := b.seats[i]
	s.sampler.CopyResult(r.Recorder, b.results, int64(i)*s.sampler.ResultBytes())
	r.CopyBytes(s.token, b.rows.tokens, 0, int64(4*i), 4)
}

// addMasks makes what choices among masks take, with the first answer that has some.
func (b *batch) addMasks() (err error) {
	for i, s := range b.seats {
		if s.masked != nil {
			continue
		}
		if err := s.sampler.AddMask(); err != nil {
			return err
		}
		if s.masked, err = b.chooseOf(i, true); err != nil {
			return err
		}
	}
	if b.mask == nil {
		b.mask = make([]uint32, engine.MaskWords(b.engine.model.Config.Vocab))
	}
	return nil
}

func (s *seat) release() {
	s.choose.Release()
	s.masked.Release()
	s.sampler.Release()
	for _, b := range []*wgslkit.Buffer{s.words, s.token, s.logits} {
		b.Release()
	}
}

// unseat takes a text's seat. What a pass under way chooses there counts no more.
func (b *batch) unseat(slot int) {
	if s := &b.slots[slot]; s.seat != noSeat {
		b.pending.forget(slot)
		b.seats[s.seat].slot, s.seat = noSlot, noSeat
	}
}

// seatAll brings texts to the first seats: those that have one of these keep it.
func (b *batch) seatAll(slots []int) error {
	n := len(slots)
	wanted := func(slot int) bool {
		for _, s := range slots {
			if s == slot {
				return true
			}
		}
		return false
	}
	for _, s := range b.seats[:n] {
		if s.slot != noSlot && !wanted(s.slot) {
			b.unseat(s.slot)
		}
	}
	free := 0
	for _, slot := range slots {
		if seat := b.slots[slot].seat; seat != noSeat && seat < n {
			continue
		}
		b.unseat(slot)
		for b.seats[free].slot != noSlot {
			free++
		}
		if err := b.sit(slot, free); err != nil {
			return err
		}
	}
	return nil
}

// sit gives a text a seat, whose sampler learns all that it has to know.
func (b *batch) sit(slot, at int) error {
	s, text := b.seats[at], &b.slots[slot]
	s.slot, text.seat = slot, at
	if text.host != nil {
		return nil
	}
	if err := s.sampler.SetHistory(text.history, 0); err != nil {
		return err
	}
	if err := s.sampler.Configure(text.params); err != nil {
		return err
	}
	var raw [4 * ops.StateWords]byte
	binary.LittleEndian.PutUint32(raw[4*ops.StatePosition:], uint32(len(text.history)-1))
	binary.LittleEndian.PutUint32(raw[4*ops.StateWidth:], 1)
	return s.words.Write(0, raw[:])
}

// choicesFor is the place of the choices of the fewest seats that are n.
func choicesFor(n int) int { return bits.Len(uint(n - 1)) }

// chooseAll submits the choices of the first n seats, and says whether it did: not where one
// has a mask, or the host chooses.
func (b *batch) chooseAll(n int) (bool, error) {
	for _, s := range b.seats[:n] {
		if text := &b.slots[s.slot]; text.masks != nil || text.host != nil {
			return false, nil
		}
	}
	for _, s := range b.seats[n:] { // those behind choose too, from what is none of theirs
		if s.slot != noSlot {
			b.unseat(s.slot)
		}
	}
	return true, b.choices[choicesFor(n)].Submit(1)
}

func (b *batch) Step(ctx context.Context, turns []engine.Turn) ([]engine.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, turn := range turns {
		if !b.slots[turn.Slot].started {
			return nil, fmt.Errorf("%w: a step of slot %d, which was not started", engine.ErrUnsupported, turn.Slot)
		}
	}
	now := b.pending
	b.pending = nil
	b.unseatOthers(now, turns)
	if !now.hasAny(turns) {
		now.discard()
		all := make([]int, len(turns))
		for i, turn := range turns {
			all[i] = turn.Slot
		}
		var err error
		if now, err = b.submit(all, nil); err != nil {
			return nil, err
		}
	}
	if err := b.submitNext(turns, now); err != nil {
		now.discard()
		return nil, err
	}
	return b.read(turns, now)
}

// read waits for what a pass chose.
func (b *batch) read(turns []engine.Turn, now *pass) ([]engine.Outcome, error) {
	if err := now.read.Bytes(b.raw[:now.bytes]); err != nil {
		return nil, err
	}
	b.outcomes = b.outcomes[:0]
	for _, turn := range turns {
		outcome := engine.Outcome{Later: true}
		if seat := now.seatOf(turn.Slot); seat != noSeat {
			b.slots[turn.Slot].cached++
			outcome = b.outcome(turn.Slot, seat, now.failed[turn.Slot])
		}
		b.outcomes = append(b.outcomes, outcome)
	}
	return b.outcomes, nil
}

// chooseBehind submits the choice of a seat. While the GPU computes the pass, the host makes
// the mask; a fault of that is the text's alone.
func (b *batch) chooseBehind(i int, failed map[int]error) error {
	s := b.seats[i]
	text := &b.slots[s.slot]
	if text.host != nil {
		return nil // when the pass is done
	}
	if text.masks == nil {
		return s.choose.Submit(1)
	}
	if err := text.masks.After(nil, b.mask); err != nil {
		failed[s.slot] = err
		return nil
	}
	if err := s.sampler.SetMask(b.mask); err != nil {
		return err
	}
	return s.masked.Submit(1)
}

// outcome is what was chosen behind a text, which that is part of now.
func (b *batch) outcome(slot, seat int, failed error) engine.Outcome {
	if failed != nil {
		return engine.Outcome{Err: failed}
	}
	text := &b.slots[slot]
	if text.host != nil {
		return b.chooseOnHost(text)
	}
	s := b.seats[seat]
	bytes := int(s.sampler.ResultBytes())
	choice, err := choiceFrom(s.sampler.ParseResult(b.raw[seat*bytes:][:bytes], len(text.history)))
	if err == nil {
		text.history = append(text.history, choice.Token)
	}
	return engine.Outcome{Choice: choice, Err: err}
}

// chooseOnHost is outcome for a text whose choices the host makes.
func (b *batch) chooseOnHost(text *batchSlot) engine.Outcome {
	row := int64(4 * len(b.logits))
	read, err := b.rows.logits.StartRead(int64(text.seat)*row, row)
	if err != nil {
		return engine.Outcome{Err: err}
	}
	if err := read.FloatsInto(b.logits); err != nil {
		return engine.Outcome{Err: err}
	}
	if text.masks != nil {
		if err := text.masks.After(nil, b.mask); err != nil {
			return engine.Outcome{Err: err}
		}
		text.host.SetMask(b.mask)
	}
	choice, err := text.host.Sample(b.logits, text.history, len(text.history))
	if err == nil {
		text.history = append(text.history, choice.Token)
	}
	return engine.Outcome{Choice: choice, Err: err}
}
