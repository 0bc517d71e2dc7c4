package cpu

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
)

// State is what a Cache holds, apart from the model: for saving a session.
type State struct {
	Length int          // positions
	Layers []LayerState // of the layers that own keys and values, in order
}

// LayerState is what one layer holds: the positions from First up to the
// State's Length.
type LayerState = engine.LayerState

// State copies what a later session needs to go on: all positions of global
// layers, and of sliding layers those that the window reaches.
func (c *Cache) State() State {
	state := State{Length: c.length}
	for i, l := range c.layers {
		if l == nil {
			continue
		}
		first := c.needed(l)
		k, v := l.take(first, c.length)
		state.Layers = append(state.Layers, LayerState{Layer: i, First: first, Dim: l.dim, K: k, V: v})
	}
	return state
}

// needed is the first position that the next token sees in a layer.
func (c *Cache) needed(l *layerCache) int {
	if !l.sliding {
		return 0
	}
	return max(0, c.length-c.config.SlidingWindow+1)
}

// Restore replaces what the cache holds by a state of a cache of the same model.
// It returns an error wrapping ErrInput, and leaves the cache as it is, where the
// state does not fit.
func (c *Cache) Restore(state State) error {
	if state.Length < 0 || state.Length > c.context {
		return fmt.Errorf("a saved session of %d tokens in a context of %d: %w", state.Length, c.context, ErrInput)
	}
	restored := *c
	restored.length, restored.written = state.Length, state.Length
	restored.layers = make([]*layerCache, len(c.layers))
	saved := state.Layers
	for i, l := range c.layers {
		if l == nil {
			continue
		}
		if len(saved) == 0 {
			return fmt.Errorf("the saved session lacks layer %d: %w", i, ErrInput)
		}
		fresh, err := restored.restoreLayer(l, i, saved[0])
		if err != nil {
			return err
		}
		restored.layers[i], saved = fresh, saved[1:]
	}
	if len(saved) > 0 {
		return fmt.Errorf("the saved session has %d layers too many: %w", len(saved), ErrInput)
	}
	restored.written = max(state.Length, restored.restoredFrom()+c.ring)
	*c = restored
	return nil
}

func (c *Cache) restoreLayer(l *layerCache, i int, s LayerState) (*layerCache, error) {
	first := c.needed(l)
	values := (c.length - first) * l.dim
	if s.Layer != i || s.First != first || s.Dim != l.dim || len(s.K) != values || len(s.V) != values {
		return nil, fmt.Errorf("layer %d of the saved session holds %d and %d values of width %d from position %d "+
			"of layer %d; this model needs %d of width %d from position %d: %w",
			i, len(s.K), len(s.V), s.Dim, s.First, s.Layer, values, l.dim, first, ErrInput)
	}
	fresh := &layerCache{dim: l.dim, limit: l.limit, sliding: l.sliding, k: l.k.empty(), v: l.v.empty()}
	fresh.grow(c.length)
	fresh.put(first, s.K, s.V)
	return fresh, nil
}

// restoredFrom is the first position that sliding layers hold after Restore, but
// −ring where that is 0, so that nothing counts as lost.
func (c *Cache) restoredFrom() int {
	if first := c.length - c.config.SlidingWindow + 1; first > 0 {
		return first
	}
	return -c.ring
}
