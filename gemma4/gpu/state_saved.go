package gpu

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/quant"
)

// CacheValues is float16, or quant.Q8_0.
func (s *state) CacheValues() quant.Type { return s.engine.cache }

// Layers reads the caches back, in float32.
func (s *state) Layers(each func(engine.LayerState) error) error {
	c := s.engine.model.Config
	for i := range c.Blocks {
		if !c.HasOwnKV(i) {
			continue
		}
		l := engine.LayerState{Layer: i, Dim: c.KVDim(i)}
		if c.IsSliding(i) {
			l.First = max(0, s.cached-c.SlidingWindow+1)
		}
		if err := s.readLayer(&l); err != nil {
			return fmt.Errorf("reading the cache of layer %d: %w", i, err)
		}
		if err := each(l); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) readLayer(l *engine.LayerState) error {
	n := s.cached - l.First
	l.K, l.V = make([]float32, n*l.Dim), make([]float32, n*l.Dim)
	if n == 0 {
		return nil
	}
	raw, err := s.caches[l.Layer].Read(context.Background(), l.First, n)
	if err != nil {
		return err
	}
	half := len(raw) / n / 2 // bytes of the keys, or values, of one position
	for i := range n {
		at := raw[2*half*i:]
		if err := s.caches[l.Layer].Decode(l.K[i*l.Dim:(i+1)*l.Dim], at[:half]); err != nil {
			return err
		}
		if err := s.caches[l.Layer].Decode(l.V[i*l.Dim:(i+1)*l.Dim], at[half:2*half]); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) Restore(n int, layers []engine.LayerState) error {
	c := s.engine.model.Config
	s.checkpoints.cut(0)
	next := 0
	for i := range c.Blocks {
		if !c.HasOwnKV(i) {
			continue
		}
		if next == len(layers) {
			return fmt.Errorf("%w: it lacks layer %d", engine.ErrSavedSession, i)
		}
		if err := s.writeLayer(i, n, layers[next]); err != nil {
			return err
		}
		next++
	}
	s.cached, s.written = n, n
	if slots := s.restoredFrom(n); slots > 0 {
		s.written = slots
	}
	return nil
}

// restoredFrom is the length whose rings would hold just what was restored: a
// saved window has nothing before it to go back to.
func (s *state) restoredFrom(n int) int {
	c := s.engine.model.Config
	first := n - c.SlidingWindow + 1
	if c.SlidingWindow == 0 || first <= 0 {
		return 0
	}
	return first + c.SlidingWindow + s.sizing.chunk
}

func (s *state) writeLayer(i, n int, l engine.LayerState) error {
	c := s.engine.model.Config
	count := n - l.First
	if l.Layer != i || l.Dim != c.KVDim(i) || l.First < 0 || count < 0 || len(l.K) != count*l.Dim ||
		len(l.V) != count*l.Dim ||
		count > s.sizing.slots(c, i) || (!c.IsSliding(i) && l.First != 0) {
		return fmt.Errorf("%w: layer %d does not fit this model", engine.ErrSavedSession, i)
	}
	if count == 0 {
		return nil
	}
	cache := s.caches[i]
	half := cache.PositionBytes() / 2
	raw := make([]byte, 2*half*count)
	for p := range count {
		at := raw[2*half*p:]
		if err := cache.Encode(at[:half], l.K[p*l.Dim:(p+1)*l.Dim]); err != nil {
			return err
		}
		if err := cache.Encode(at[half:2*half], l.V[p*l.Dim:(p+1)*l.Dim]); err != nil {
			return err
		}
	}
	return cache.Write(context.Background(), l.First, raw)
}
