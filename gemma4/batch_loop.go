package gemma4

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/internal/eventloop"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// batchLoop is what a batch's goroutine alone knows.
type batchLoop struct {
	*Batch
	engine  engine.Batch
	slots   []slot
	active  []*stream     // in the order in which they came
	next    *stream       // whose prompt was computed last
	holding bool          // the adapters' lock, while there are answers under way
	turns   int64         // since the beginning: when slots were used
	taking  []engine.Turn // of a step
	choose  []*stream     // whose they are
}

func (l *batchLoop) run() {
	defer close(l.done)
	defer l.engine.Close()
	defer l.endAll()
	for l.ctx.Err() == nil {
		l.admit()
		if len(l.active) == 0 {
			l.hold(false)
			select {
			case <-l.wake:
			case <-l.ctx.Done():
			}
			continue
		}
		l.turn()
		eventloop.Yield()
	}
}

// endAll tells everybody that the batch is closed.
func (l *batchLoop) endAll() {
	l.view.Lock()
	waiting := l.waiting
	l.waiting = nil
	l.view.Unlock()
	cause := fmt.Errorf("%w: batch", ErrClosed)
	for _, s := range slices.Concat(l.active, waiting) {
		s.out.push(delivery{err: cause})
	}
	l.active = nil
	l.hold(false)
}

// hold keeps the adapters as they are while answers are under way.
func (l *batchLoop) hold(on bool) {
	if on == l.holding {
		return
	}
	l.holding = on
	if on {
		l.model.adapters.using.RLock()
	} else {
		l.model.adapters.using.RUnlock()
	}
}

// admit lets those who wait come in, as long as there are streams for them.
func (l *batchLoop) admit() {
	l.view.Lock()
	defer l.view.Unlock()
	for len(l.waiting) > 0 {
		s := l.waiting[0]
		if s.ctx.Err() == nil && len(l.active) == l.streams {
			break
		}
		l.waiting = slices.Delete(l.waiting, 0, 1)
		if s.ctx.Err() == nil {
			l.active = append(l.active, s)
			l.stats.Prompts += int64(len(s.prompt.Tokens))
		}
	}
	// Those behind may have left as well.
	l.waiting = slices.DeleteFunc(l.waiting, func(s *stream) bool { return s.ctx.Err() != nil })
	l.stats.Running = len(l.active)
}

// turn computes a piece of one prompt, and one token for each that is answered.
func (l *batchLoop) turn() {
	l.hold(true)
	if forgotten, err := l.engine.Refresh(); err != nil {
		l.failAll(err)
		return
	} else if forgotten {
		l.forgetAll()
	}
	for _, s := range slices.Clone(l.active) {
		if s.ctx.Err() != nil {
			l.leave(s)
		}
	}
	l.turns++
	l.prefill()
	l.step()
	l.count()
}

// count brings the numbers that others see up to date.
func (l *batchLoop) count() {
	held := 0
	for i := range l.slots {
		held += l.engine.Len(i)
	}
	l.view.Lock()
	defer l.view.Unlock()
	l.stats.Cached, l.stats.Running = held, len(l.active)
}

// leave ends a stream. Its slot keeps what was computed.
func (l *batchLoop) leave(s *stream) {
	l.active = slices.DeleteFunc(l.active, func(o *stream) bool { return o == s })
	if s.slot == nowhere {
		return
	}
	l.engine.Stop(s.slot)
	at := &l.slots[s.slot]
	at.running = false
	at.text.truncate(min(len(at.text.Tokens), l.engine.Len(s.slot)))
}

// fail ends a stream with an error, behind which its slot is of no use.
func (l *batchLoop) fail(s *stream, err error) {
	l.leave(s)
	if s.slot != nowhere {
		l.engine.Rewind(s.slot, 0)
		l.slots[s.slot].text = Prompt{}
	}
	s.out.push(delivery{err: err})
}

// abandon ends a stream whose prompt was not computed to its end. Where its caller has left,
// what is computed stays good.
func (l *batchLoop) abandon(s *stream, err error) {
	if s.ctx.Err() == nil {
		l.fail(s, err)
		return
	}
	l.slots[s.slot].text = s.prompt.until(max(s.computed, l.engine.Len(s.slot)))
	l.leave(s)
}

func (l *batchLoop) failAll(err error) {
	for _, s := range slices.Clone(l.active) {
		l.fail(s, err)
	}
}

// prefill computes a piece of a prompt. They take turns, so that nobody waits for the
// whole of another's.
func (l *batchLoop) prefill() {
	s := l.nextPrompt()
	if s == nil {
		return
	}
	l.next = s
	if s.slot == nowhere {
		if err := l.place(s); err != nil {
			l.fail(s, err)
			return
		}
	}
	last := len(s.prompt.Tokens) - 1 // which the first step computes
	end := min(s.piece.Cut(s.computed, l.engine.Piece()), last)
	if s.keepAt > s.computed {
		end = min(end, max(s.piece.Cut(s.computed, s.keepAt-s.computed), s.computed))
	}
	if end > s.computed {
		if err := l.engine.Prefill(s.ctx, s.slot, s.piece.Slice(s.computed, end)); err != nil {
			l.abandon(s, err)
			return
		}
	}
	l.prefilled(s, end)
	if end == last {
		l.start(s)
	}
}

// prefilled notes how far a prompt is computed.
func (l *batchLoop) prefilled(s *stream, end int) {
	done := end - s.computed
	s.computed = end
	l.slots[s.slot].text = s.prompt.until(end)
	if s.keepAt > 0 && s.keepAt <= end {
		l.keep(s)
	}
	if s.choosing.Prefill != nil {
		s.out.push(delivery{progress: true, computed: end - s.reused, total: len(s.prompt.Tokens) - s.reused})
	}
	l.view.Lock()
	defer l.view.Unlock()
	l.stats.Computed += int64(done)
}

// nextPrompt is whose turn it is: the one behind the last, unless it begins like a prompt
// under way of which it can have that part for nothing.
func (l *batchLoop) nextPrompt() *stream {
	n := len(l.active)
	from := slices.Index(l.active, l.next) + 1
	for i := range n {
		s := l.active[(from+i)%n]
		if !s.started && !(s.slot == nowhere && l.comes(s)) {
			return s
		}
	}
	return nil
}

// comes says whether another prompt is just being computed that begins like this one, for
// longer than what is computed of it.
func (l *batchLoop) comes(s *stream) bool {
	for _, o := range l.active {
		if o != s && o.slot != nowhere && !o.started {
			if same := commonPrefix(&o.prompt, &s.prompt); same >= leastShared && same > o.computed &&
				o.computed < len(o.prompt.Tokens)-1 {
				return true
			}
		}
	}
	return false
}

// start begins to choose behind a prompt.
func (l *batchLoop) start(s *stream) {
	var masks engine.Masks
	if s.guide != nil {
		masks = s.guide
	}
	if s.choosing.Sampling.Dry() {
		l.engine.SetBreakers(s.slot, l.model.breakersOf(s.choosing.Sampling))
	}
	if err := l.engine.Start(s.slot, s.choosing.Sampling, s.prompt.Tokens, masks); err != nil {
		l.fail(s, err)
		return
	}
	s.started = true
	l.slots[s.slot].text = s.prompt.until(len(s.prompt.Tokens))
	l.view.Lock()
	defer l.view.Unlock()
	l.stats.Computed++
}

// leastForcedInBatch is how many tokens that nothing has to choose are worth a pass of
// their own, for which the others wait.
const leastForcedInBatch = 4

// step chooses a token for each stream that is that far.
func (l *batchLoop) step() {
	l.taking, l.choose = l.taking[:0], l.choose[:0]
	for _, s := range slices.Clone(l.active) {
		if s.started && !l.force(s) {
			l.taking = append(l.taking, engine.Turn{Slot: s.slot, Last: s.chosen+1 == s.limit})
			l.choose = append(l.choose, s)
		}
	}
	if len(l.choose) == 0 {
		return
	}
	outcomes, err := l.engine.Step(l.ctx, l.taking)
	if l.ctx.Err() != nil {
		return // the batch was closed
	}
	if err != nil {
		l.failAll(err)
		return
	}
	chosen := 0
	for i, s := range l.choose {
		switch o := outcomes[i]; {
		case o.Later:
		case o.Err != nil:
			l.fail(s, o.Err)
		default:
			chosen++
			l.take(s, o.Choice)
		}
	}
	l.view.Lock()
	defer l.view.Unlock()
	l.stats.Steps++
	l.stats.Chosen += int64(chosen)
	l.stats.Sizes[chosen]++
}

// take hands a choice over, and says whether more may come.
func (l *batchLoop) take(s *stream, choice sample.Choice) bool {
	at := &l.slots[s.slot]
	at.text.Tokens = append(at.text.Tokens, choice.Token)
	at.used = l.turns
	s.chosen++
	if err := s.guide.accept(choice.Token); err != nil {
		l.fail(s, err)
		return false
	}
	more := s.take(choice)
	if more && (s.guide.ended() || s.chosen == s.limit) {
		s.finish()
		more = false
	}
	if !more {
		l.leave(s)
		s.out.push(delivery{last: true})
	}
	return more
}

// forced is what has to come next: the end of a thought whose budget is spent, or what a form
// leaves no choice of, where that is worth a pass.
func (s *stream) forced() ([]int32, error) {
	if s.closing != nil {
		if token, now := s.closing(); now {
			return []int32{token}, nil
		}
	}
	if s.guide == nil {
		return nil, nil
	}
	tokens, err := s.guide.forced(s.limit - s.chosen)
	if err != nil || len(tokens) < leastForcedInBatch {
		return nil, err
	}
	return slices.Clone(tokens), nil
}

// force takes what a form leaves no choice of, where that is worth it.
func (l *batchLoop) force(s *stream) (took bool) {
	tokens, err := s.forced()
	if err != nil {
		l.fail(s, err)
		return true
	}
	if len(tokens) == 0 {
		return false
	}
	if err := l.engine.Force(l.ctx, s.slot, tokens); err != nil {
		l.fail(s, err)
		return true
	}
	s.usage.Forced += len(tokens)
	for _, t := range tokens {
		if !l.take(s, sample.Choice{Token: t}) {
			break
		}
	}
	return true
}

// placed says how much of the prompt was there.
func (s *stream) placed(reused int) {
	s.reused, s.computed = reused, reused
	s.usage.Computed = len(s.prompt.Tokens) - reused
}
