package gemma4

import (
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/gpu"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Plan says, before the first upload, where each tensor will live and what
// memory that takes. Sizes are in bytes.
type Plan = engine.Plan

// PlanEntry is one tensor's place.
type PlanEntry = engine.PlanEntry

// Placement says where a tensor lives.
type Placement = engine.Placement

// The placements.
const (
	// OnGPU: all of it in GPU memory, in tiles where a binding is too small.
	OnGPU = engine.OnGPU
	// RowByRow: it stays in the file, and the host fetches a token's row.
	RowByRow = engine.RowByRow
	// InMemory: in the program's own memory, to be computed with on the CPU.
	InMemory = engine.InMemory
)

// PlanFor says where the tensors of a model would live on the GPU that opts ask
// for, from the file's header alone: nothing is loaded, and file stays open. In a
// browser, where the CPU takes small models only, it is the CPU's plan where that
// is what Open would take. Adapters are those that are to be in use.
//
// Where the model is larger than what it may use, that is ErrDoesNotFit, and
// the plan that was tried comes with it.
func PlanFor(file *gguf.File, opts OpenOptions, adapters ...adapter.Weighted) (*Plan, error) {
	p, err := newPlanning(file, opts, adapters)
	if err != nil {
		return nil, err
	}
	plan, err := p.plan(p.context)
	return plan, errors.Join(err, p.close())
}

// LongestContext is PlanFor with the longest context that fits, a multiple of step
// tokens of at most opts.Context, or what the model was made for. Where not even one
// step fits, it is that one's plan and error.
func LongestContext(file *gguf.File, opts OpenOptions, step int, adapters ...adapter.Weighted) (*Plan, error) {
	if step < 1 {
		return nil, fmt.Errorf("%w: contexts in steps of %d tokens", ErrUnsupported, step)
	}
	p, err := newPlanning(file, opts, adapters)
	if err != nil {
		return nil, err
	}
	plan, err := p.longest(max(opts.Context, 0), step)
	return plan, errors.Join(err, p.close())
}

// planning makes plans of one model on one device.
type planning struct {
	model    *arch.Model
	device   *wgslkit.Device // nil for the CPU
	context  int
	cache    CacheType
	options  OpenOptions
	adapters []adapter.Weighted
}

func newPlanning(file *gguf.File, opts OpenOptions, adapters []adapter.Weighted) (p *planning, err error) {
	p = &planning{options: opts, adapters: adapters}
	if p.model, err = arch.Open(file); err != nil {
		return nil, err
	}
	for _, a := range adapters {
		if err := a.Check(p.model); err != nil {
			return nil, err
		}
	}
	if p.context, err = opts.contextFor(p.model.Config); err != nil {
		return nil, err
	}
	if p.cache, err = engine.ParseCacheType(opts.KVCache); err != nil {
		return nil, err
	}
	if opts.Device == DeviceCPU {
		return p, nil
	}
	p.device, err = wgslkit.Open(opts.GPU)
	if err == nil && plansForCPU && SlowerThanCPU(p.device, opts) {
		err = errors.Join(wgslkit.ErrNoDevice, p.close())
	}
	if plansForCPU && opts.Device == DeviceAuto && errors.Is(err, wgslkit.ErrNoDevice) {
		p.device, err = nil, nil
	}
	return p, err
}

func (p *planning) plan(context int) (*Plan, error) {
	if p.device == nil {
		return cpu.NewPlan(p.model, context, p.cache)
	}
	plan, err := gpu.NewPlan(ops.New(p.device), p.model, p.options.engineOptions(context), p.adapters)
	if plan != nil {
		plan.Unused = SlowerThanCPU(p.device, p.options)
	}
	return plan, err
}

// longest halves what is between a context that fits and one that does not.
func (p *planning) longest(most, step int) (*Plan, error) {
	if most == 0 {
		most = p.model.Config.ContextLength
	}
	best, err := p.plan(min(step, most))
	if err != nil {
		return best, err
	}
	fits, fails := 1, most/step+1
	for fails-fits > 1 {
		n := (fits + fails) / 2
		plan, err := p.plan(n * step)
		switch {
		case err == nil:
			best, fits = plan, n
		case errors.Is(err, ErrDoesNotFit), errors.Is(err, wgslkit.ErrLimit):
			fails = n
		default:
			return nil, err
		}
	}
	return best, nil
}

func (p *planning) close() error {
	if p.device == nil {
		return nil
	}
	return p.device.Close()
}
