package gpu

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Engine is package engine's on a GPU: recorded programs over wgslkit.
type Engine struct {
	device  *wgslkit.Device
	kit     *ops.Kit
	model   *arch.Model
	cache   quant.Type // of its sessions' caches
	plan    *engine.Plan
	weights *Weights
	// adapters are those in use, nil for none. States look before they compute.
	adapters *adapterWeights
	// adapterBytes is what they take; Plan reads it while they change.
	adapterBytes atomic.Int64
	assistant    *assistantWeights // nil for none
}

// NewEngine plans where a model's tensors live on a kit's device, and loads them. The
// device closes with the engine, or at once on an error: one that wraps
// engine.ErrDoesNotFit where it has too little memory.
func NewEngine(ctx context.Context, kit *ops.Kit, m *arch.Model, opts engine.Options) (*Engine, error) {
	e := &Engine{device: kit.Device(), kit: kit, model: m, cache: cacheValues(opts.KVCache)}
	if err := e.load(ctx, opts); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engine) load(ctx context.Context, opts engine.Options) error {
	p, err := newPlanner(e.kit, e.model, opts, nil)
	if err != nil {
		return err
	}
	e.plan = p.plan
	e.device.Precompile(p.kernels)
	total := e.plan.Weights
	e.weights, err = loadWeights(ctx, e.kit, e.model, e.plan, opts.BeforeWeights, func(done int64) {
		opts.Report(min(done, total), total)
	})
	return err
}

// Kit is what the engine computes with. It closes with the engine.
func (e *Engine) Kit() *ops.Kit { return e.kit }

// Weights are the model's on the GPU. They live as long as the engine and must not be
// released.
func (e *Engine) Weights() *Weights { return e.weights }

// DeviceName is the GPU's.
func (e *Engine) DeviceName() string { return e.device.Info().Name }

// Plan is a copy of what was planned, with the adapters that are in use now.
func (e *Engine) Plan() *engine.Plan {
	plan := *e.plan
	plan.Adapters = e.adapterBytes.Load()
	if plan.Budget > 0 && plan.Total() > plan.Budget { // they were given up for the adapters
		plan.Checkpoints = 0
	}
	return &plan
}

// sizing is that of a session, whose chunks are the plan's.
func (e *Engine) sizing(contextLength int) sizing {
	return newSizing(e.model.Config, contextLength, e.cache, e.kit).inChunks(e.plan.Chunk)
}

// Close reports what was left unreleased on the device.
func (e *Engine) Close() error {
	if e.weights != nil {
		e.weights.release()
	}
	e.adapters.release()
	e.assistant.release()
	return e.device.Close()
}

// NewState makes the caches and records the programs of a session.
func (e *Engine) NewState(n int) (engine.State, error) {
	s, err := e.newState(n)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (e *Engine) newState(n int) (*state, error) {
	s := &state{engine: e, sizing: e.sizing(n)}
	if err := s.build(); err != nil {
		s.Close()
		return nil, fmt.Errorf("making a session of %d tokens: %w", n, err)
	}
	return s, nil
}

// newCaches makes a cache for each layer that owns one; the others get their donor's.
func (e *Engine) newCaches(s sizing) ([]*ops.KVCache, error) {
	c := e.model.Config
	caches := make([]*ops.KVCache, c.Blocks)
	for i := range caches {
		if !c.HasOwnKV(i) {
			caches[i] = caches[c.KVDonor(i)]
			continue
		}
		cache, err := e.kit.NewKVCache(fmt.Sprintf("cache of layer %d", i), s.cacheShape(c, i))
		if err != nil {
			releaseCaches(caches)
			return nil, err
		}
		caches[i] = cache
	}
	return caches, nil
}

func releaseCaches(caches []*ops.KVCache) {
	for _, c := range caches {
		c.Release() // a shared one more than once, which does nothing
	}
}
