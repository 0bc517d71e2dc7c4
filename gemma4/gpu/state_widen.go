package gpu

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// widen makes the session's chunks hold width tokens, where they are smaller:
// soft tokens that see each other go through the layers together. The sliding
// layers' rings grow with the chunks. On an error the session is as it was.
func (s *state) widen(width int) error {
	if width <= s.sizing.chunk {
		return nil
	}
	s.checkpoints.release() // of the smaller rings
	wider, err := s.widened(width)
	if err != nil {
		return fmt.Errorf("making room for an image of %d soft tokens, which the model sees at once; give it a "+
			"smaller budget: %w", width, err)
	}
	s.verifier.release() // its programs are over the caches that go
	s.drafter.release()
	s.verifier, s.drafter = nil, nil
	old := state{caches: s.replaced(wider), wide: s.wide, programs: s.programs}
	s.caches, s.wide, s.programs = wider.caches, wider.wide, wider.programs
	s.written, s.sizing = wider.written, wider.sizing
	old.releaseWide()
	s.checkpoints, err = s.engine.newCheckpoints(s.sizing, s.caches)
	return err
}

// widened is a state with the same text in larger rings, and its programs.
func (s *state) widened(width int) (*state, error) {
	e, c := s.engine, s.engine.model.Config
	if err := s.checkWidth(width); err != nil {
		return nil, err
	}
	wider := &state{engine: e, sizing: s.sizing, words: s.words, sampler: s.sampler, single: s.single, cached: s.cached,
		adapters: s.adapters}
	wider.sizing.chunk = width
	var err error
	if wider.caches, err = s.widerCaches(wider.sizing); err == nil {
		wider.wide, err = newActivations(e.kit, c, width, 0)
	}
	if err == nil {
		err = wider.wide.setAdapted(e.kit, s.adapters)
	}
	if err == nil {
		wider.programs, err = wider.recorder().record()
	}
	if err != nil {
		wider.caches = wider.replaced(s)
		wider.releaseWide()
		return nil, err
	}
	wider.written = max(s.cached, s.oldest()+c.SlidingWindow+width)
	if s.oldest() == 0 {
		wider.written = s.cached
	}
	return wider, nil
}

// checkWidth refuses what no buffer holds.
func (s *state) checkWidth(width int) error {
	limits := s.engine.device.Limits()
	if row := int64(4 * widestRow(s.engine.model.Config)); row*int64(width) > limits.MaxStorageBindingSize {
		return fmt.Errorf("%w: it takes %s at once and this device binds %s", engine.ErrDoesNotFit,
			engine.FormatBytes(row*int64(width)), engine.FormatBytes(limits.MaxStorageBindingSize))
	}
	return nil
}

// oldest is the first position that the sliding layers' rings hold.
func (s *state) oldest() int {
	return max(0, s.written-s.engine.model.Config.SlidingWindow-s.sizing.chunk)
}

// widerCaches are the caches with larger rings for the sliding layers. Those of
// global layers stay the same ones. On an error, what was made is returned too.
func (s *state) widerCaches(wider sizing) ([]*ops.KVCache, error) {
	e, c := s.engine, s.engine.model.Config
	caches := append([]*ops.KVCache(nil), s.caches...)
	for i := range caches {
		if !c.IsSliding(i) {
			continue
		}
		if !c.HasOwnKV(i) {
			caches[i] = caches[c.KVDonor(i)]
			continue
		}
		cache, err := e.kit.NewKVCache(fmt.Sprintf("cache of layer %d", i), wider.cacheShape(c, i))
		if err != nil {
			return caches, err
		}
		caches[i] = cache
		if err := s.copyRing(i, cache); err != nil {
			return caches, err
		}
	}
	return caches, nil
}

func (s *state) copyRing(i int, into *ops.KVCache) error {
	first := s.oldest()
	if first >= s.cached {
		return nil
	}
	raw, err := s.caches[i].Read(context.Background(), first, s.cached-first)
	if err != nil {
		return err
	}
	return into.Write(context.Background(), first, raw)
}

// replaced lists the caches of s that other does not have.
func (s *state) replaced(other *state) []*ops.KVCache {
	shared := map[*ops.KVCache]bool{}
	for _, c := range other.caches {
		shared[c] = true
	}
	var own []*ops.KVCache
	for _, c := range s.caches {
		if !shared[c] {
			own = append(own, c)
		}
	}
	return own
}

// releaseWide frees what a wider state has of its own.
func (s *state) releaseWide() {
	s.programs.release()
	s.wide.release()
	releaseCaches(s.caches)
}
