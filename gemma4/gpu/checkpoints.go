package gpu

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// checkpoints are copies of a session's rings, which it goes back to where the rings have
// overwritten what it needs. Buffers and programs are made with the session: a copy is a
// submission. Where the device has no room for something else, all of them are given up.
type checkpoints struct {
	mu      sync.Mutex // held while copies are submitted or given up, never while buffers are made
	kept    *engine.Checkpoints
	buffers []*wgslkit.Buffer  // for each buffer of a ring, its copies one behind the other
	save    []*wgslkit.Program // by slot
	load    []*wgslkit.Program
	forget  func() // the device's, that asks for room
}

// ring is what the sliding layers' caches hold.
func (s sizing) ring(c *arch.Config) engine.Ring {
	return engine.Ring{Window: c.SlidingWindow, Slots: c.SlidingWindow + s.chunk}
}

// ringBuffers are the buffers of the sliding layers' caches.
func ringBuffers(c *arch.Config, caches []*ops.KVCache) (buffers []*wgslkit.Buffer) {
	for i, cache := range caches {
		if !c.HasOwnKV(i) || !c.IsSliding(i) {
			continue
		}
		for _, p := range cache.Parts {
			buffers = append(buffers, p.Keys, p.Values)
		}
	}
	return buffers
}

// checkpointBytes is the size of each checkpoint.
func (s sizing) checkpointBytes(c *arch.Config) (n int64) {
	for i := range c.Blocks {
		if c.HasOwnKV(i) && c.IsSliding(i) {
			n += s.cacheShape(c, i).Bytes()
		}
	}
	return n
}

// checkpoints is how many a session keeps beside weights of so many bytes.
func (s sizing) checkpoints(c *arch.Config, weights int64) int {
	return engine.CheckpointSlots(s.context, s.ring(c), s.checkpointBytes(c), weights)
}

// checkpoints is how many a session keeps: what the plan has room for, where it is as long as
// planned or memory is bounded.
func (e *Engine) checkpoints(s sizing) int {
	each, p := s.checkpointBytes(e.model.Config), e.plan
	if each == 0 {
		return 0
	}
	planned, wanted := int(p.Checkpoints/each), s.checkpoints(e.model.Config, p.Weights)
	switch {
	case s.context == p.Context && s.chunk == p.Chunk:
		return planned
	case p.Budget > 0:
		return min(planned, wanted)
	}
	return wanted
}

// newCheckpoints makes room for a session's. Where there is less memory than was thought,
// there are fewer.
func (e *Engine) newCheckpoints(s sizing, caches []*ops.KVCache) (*checkpoints, error) {
	r := s.ring(e.model.Config)
	for n := e.checkpoints(s); n > 0; n /= 2 {
		made, err := e.makeCheckpoints(n, r, ringBuffers(e.model.Config, caches))
		if err == nil {
			made.forget = e.device.OnShortage(made.giveUp)
			return made, nil
		}
		if !errors.Is(err, wgslkit.ErrOutOfMemory) && !errors.Is(err, wgslkit.ErrLimit) {
			return nil, err
		}
	}
	return &checkpoints{kept: engine.NewCheckpoints(0, r)}, nil
}

func (e *Engine) makeCheckpoints(n int, r engine.Ring, rings []*wgslkit.Buffer) (*checkpoints, error) {
	p := &checkpoints{kept: engine.NewCheckpoints(n, r)}
	for _, ring := range rings {
		copies, err := e.device.NewBuffer("checkpoints of "+ring.Label(), wgslkit.Cache, int64(n)*ring.Size())
		if err != nil {
			p.giveUp()
			return nil, err
		}
		p.buffers = append(p.buffers, copies)
	}
	for slot := range n {
		save, load := e.device.NewProgram("save a checkpoint"), e.device.NewProgram("go back to a checkpoint")
		for i, ring := range rings {
			at, size := int64(slot)*ring.Size(), ring.Size()
			save.Copy(ring, p.buffers[i], 0, at, size)
			load.Copy(p.buffers[i], ring, at, 0, size)
		}
		if err := errors.Join(save.Finish(), load.Finish()); err != nil {
			p.giveUp()
			return nil, fmt.Errorf("making checkpoints: %w", err)
		}
		p.save, p.load = append(p.save, save), append(p.load, load)
	}
	return p, nil
}

// bytes is what all of them take.
func (p *checkpoints) bytes() (n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.buffers {
		n += b.Size()
	}
	return n
}

// add copies the rings, where the account wants that: behind end positions, of up to written
// that went through them.
func (p *checkpoints) add(end, written int, turn bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !turn && !p.kept.Due(end) {
		return nil
	}
	slot, ok := p.kept.Add(end, written, turn)
	if !ok {
		return nil
	}
	return p.save[slot].Submit(1)
}

// cut notes that position n and what is behind it is no longer the text's.
func (p *checkpoints) cut(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Cut(n)
}

// back fills the rings with what the token at position n sees, or at one before it: it
// returns that one, 0 where there is none, and how many positions had gone through them.
func (p *checkpoints) back(n int) (to, written int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	point, to := p.kept.Back(n)
	if to == 0 || p.load[point.Slot].Submit(1) != nil {
		return 0, 0
	}
	return to, point.Written
}

// giveUp frees the memory. It says whether there was any.
func (p *checkpoints) giveUp() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.buffers) == 0 {
		return false
	}
	for i := range p.save {
		p.save[i].Release()
		p.load[i].Release()
	}
	for _, b := range p.buffers {
		b.Release()
	}
	p.kept = engine.NewCheckpoints(0, engine.Ring{})
	p.buffers, p.save, p.load = nil, nil, nil
	return true
}

// release is giveUp at a session's end.
func (p *checkpoints) release() {
	if p == nil {
		return
	}
	if p.forget != nil {
		p.forget()
	}
	p.giveUp()
}

// checkpoint copies the rings where that is due, or at the start of a turn.
func (s *state) checkpoint(turn bool) error {
	// Steps under way write behind what is counted.
	return s.checkpoints.add(s.cached, max(s.written, s.position), turn)
}

// beginText is called before n more positions are computed: what follows goes on from there
// alone. Where the rings will not reach back to there, they are copied first.
func (s *state) beginText(n int) error {
	s.checkpoints.cut(s.cached)
	if n <= s.sizing.chunk {
		return nil
	}
	return s.checkpoint(true)
}
