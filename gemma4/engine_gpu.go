package gemma4

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// gpuEngine computes with recorded programs over wgslkit.
type gpuEngine struct {
	device  *wgslkit.Device
	kit     *ops.Kit
	model   *arch.Model
	cache   quant.Type // of its sessions' caches
	plan    *Plan
	weights *gpuWeights
	// adapters are those in use, nil for none. States look before they compute.
	adapters *gpuAdapters
	// adapterBytes is what they take; Info reads it while they change.
	adapterBytes atomic.Int64
	assistant    *gpuAssistant // nil for none
}

func newGPUEngine(ctx context.Context, m *arch.Model, contextLength int, opts OpenOptions) (engine, error) {
	device, err := wgslkit.Open(opts.GPU)
	if err != nil {
		return nil, err
	}
	if slowerThanCPU(device, opts) {
		err := fmt.Errorf("%w: %s is a software rasterizer, which the CPU path outruns; %s", wgslkit.ErrNoDevice, device.Info().Name, askForGPU)
		return nil, errors.Join(err, device.Close())
	}
	e := &gpuEngine{device: device, kit: ops.New(device), model: m, cache: opts.KVCache.onGPU()}
	if err := e.load(ctx, contextLength, opts); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// slowerThanCPU says that nobody asked for the device and it only plays a GPU.
func slowerThanCPU(d *wgslkit.Device, opts OpenOptions) bool {
	return opts.Device == DeviceAuto && opts.GPU.Adapter == "" && os.Getenv("GEMWIRE_ADAPTER") == "" && d.Info().Kind == wgslkit.CPU
}

func (e *gpuEngine) load(ctx context.Context, contextLength int, opts OpenOptions) (err error) {
	if e.plan, err = newPlan(e.kit, e.model, newSizing(e.model.Config, contextLength, e.cache, e.kit), opts.TablesInFile, nil); err != nil {
		return err
	}
	e.device.CompileAhead(e.plan.kernels)
	e.plan.kernels = nil
	total := e.plan.Weights
	e.weights, err = loadWeights(ctx, e.kit, e.model, e.plan, opts.beforeWeights, func(done int64) {
		opts.report(Progress{Phase: PhaseWeights, Done: min(done, total), Total: total})
	})
	return err
}

// sizing is that of a session, whose chunks are the plan's.
func (e *gpuEngine) sizing(contextLength int) sizing {
	return newSizing(e.model.Config, contextLength, e.cache, e.kit).inChunks(e.plan.Chunk)
}

func (e *gpuEngine) describe(info *Info) {
	adapter, limits, features := e.device.Info(), e.device.Limits(), e.device.Features()
	info.Device, info.DeviceName, info.Plan = DeviceGPU, adapter.Name, e.plan
	info.Adapter, info.Limits, info.Features = &adapter, &limits, &features
}

// close reports what was left unreleased on the device.
func (e *gpuEngine) close() error {
	if e.weights != nil {
		e.weights.release()
	}
	e.adapters.release()
	e.assistant.release()
	return e.device.Close()
}

// newState makes the caches and records the programs of a session.
func (e *gpuEngine) newState(n int) (state, error) {
	s, err := e.newGPUState(n)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (e *gpuEngine) newGPUState(n int) (*gpuState, error) {
	s := &gpuState{engine: e, sizing: e.sizing(n)}
	if err := s.build(); err != nil {
		s.close()
		return nil, fmt.Errorf("making a session of %d tokens: %w", n, err)
	}
	return s, nil
}

// newCaches makes a cache for each layer that owns one; the others get their donor's.
func (e *gpuEngine) newCaches(s sizing) ([]*ops.KVCache, error) {
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
