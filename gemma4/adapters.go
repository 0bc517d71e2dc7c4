package gemma4

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gemma4/adapter"
)

// adapterSet is what a model has loaded of adapters, and which of it is in use.
type adapterSet struct {
	mu     sync.Mutex
	loaded map[string]*adapter.Adapter
	// using is held for reading by whoever computes, for writing by whoever
	// changes the mix.
	using sync.RWMutex
	mix   *adapterMix // nil is none
}

// adapterMix is the adapters in use. Each change makes another one, so that
// sessions see that what they hold is no longer good.
type adapterMix struct {
	names    []string
	adapters []adapter.Weighted
}

// AdapterUse is a loaded adapter and how much of it is in use, 0 where it is not.
type AdapterUse struct {
	Name       string  `json:"name"`
	Weight     float32 `json:"weight"`
	Parameters int64   `json:"parameters"`
}

// LoadAdapter takes an adapter under a name, without using it yet.
func (m *Model) LoadAdapter(name string, a *adapter.Adapter) error {
	if err := a.Check(m.arch); err != nil {
		return err
	}
	s := &m.adapters
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded[name] != nil {
		return fmt.Errorf("%w: %q is loaded already; take another name, or unload it first", ErrAdapter, name)
	}
	if s.loaded == nil {
		s.loaded = map[string]*adapter.Adapter{}
	}
	s.loaded[name] = a
	return nil
}

// UnloadAdapter forgets an adapter that is not in use.
func (m *Model) UnloadAdapter(name string) error {
	s := &m.adapters
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded[name] == nil {
		return s.unknown(name)
	}
	if mix := s.current(); mix != nil && slices.Contains(mix.names, name) {
		return fmt.Errorf("%w: %q is in use; take another or none first", ErrAdapter, name)
	}
	delete(s.loaded, name)
	return nil
}

// Adapters lists what is loaded, by name.
func (m *Model) Adapters() []AdapterUse {
	s := &m.adapters
	s.mu.Lock()
	defer s.mu.Unlock()
	mix := s.current()
	var list []AdapterUse
	for _, name := range slices.Sorted(maps.Keys(s.loaded)) {
		list = append(list, AdapterUse{Name: name, Weight: mix.weight(name), Parameters: s.loaded[name].Parameters()})
	}
	return list
}

// UseAdapters makes the model compute with the loaded adapters of these names,
// each as much as its weight says (1 is what it was trained as), and no others.
// What sessions hold was computed otherwise and is computed anew. It fails with
// ErrBusy while an answer is under way, and with ErrDoesNotFit, on a GPU with a
// memory budget, where they are more than it leaves beside a session: then all stays
// as it was.
func (m *Model) UseAdapters(ctx context.Context, weights map[string]float32) error {
	s := &m.adapters
	s.mu.Lock()
	defer s.mu.Unlock()
	mix, err := s.mixOf(weights)
	if err != nil {
		return err
	}
	if !s.using.TryLock() {
		return fmt.Errorf("%w: stop it before the adapters change", ErrBusy)
	}
	defer s.using.Unlock()
	adapters := mix.inUse()
	if err := m.examineAdapters(ctx, adapters); err != nil {
		return err
	}
	if err := m.examineBatches(ctx, adapters); err != nil {
		return err
	}
	if err := m.engine.SetAdapters(ctx, adapters); err != nil {
		return err
	}
	s.mix = mix
	return nil
}

// ClearAdapters makes the model compute without any.
func (m *Model) ClearAdapters(ctx context.Context) error { return m.UseAdapters(ctx, nil) }

func (s *adapterSet) mixOf(weights map[string]float32) (*adapterMix, error) {
	if len(weights) == 0 {
		return nil, nil
	}
	mix := &adapterMix{names: slices.Sorted(maps.Keys(weights))}
	for _, name := range mix.names {
		a, weight := s.loaded[name], weights[name]
		if a == nil {
			return nil, s.unknown(name)
		}
		if f := float64(weight); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%w: a weight of %v for %q", ErrUnsupported, weight, name)
		}
		mix.adapters = append(mix.adapters, adapter.Weighted{Adapter: a, Weight: weight})
	}
	return mix, nil
}

func (s *adapterSet) unknown(name string) error {
	return fmt.Errorf("%w: %q is not loaded; loaded are %q", ErrAdapter, name, slices.Sorted(maps.Keys(s.loaded)))
}

// current is the mix in use.
func (s *adapterSet) current() *adapterMix {
	s.using.RLock()
	defer s.using.RUnlock()
	return s.mix
}

// inUse is the adapters of a mix, with their weights.
func (mix *adapterMix) inUse() []adapter.Weighted {
	if mix == nil {
		return nil
	}
	return mix.adapters
}

func (mix *adapterMix) weight(name string) float32 {
	if mix == nil {
		return 0
	}
	if i := slices.Index(mix.names, name); i >= 0 {
		return mix.adapters[i].Weight
	}
	return 0
}

// writeTo writes what tells one mix from another; of no adapters, nothing.
func (mix *adapterMix) writeTo(w io.Writer) {
	if mix == nil {
		return
	}
	for _, a := range mix.adapters {
		binary.Write(w, binary.LittleEndian, a.Weight)
		for _, t := range a.Targets() {
			p := a.Pairs[t]
			fmt.Fprintf(w, "%s %d %v\n", t, p.Rank, p.Scale)
			binary.Write(w, binary.LittleEndian, p.A)
			binary.Write(w, binary.LittleEndian, p.B)
		}
	}
}
