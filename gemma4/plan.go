package gemma4

import (
	"errors"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// PlanFor says where the tensors of a model would live on the GPU that opts ask
// for, from the file's header alone: nothing is loaded, and file stays open. In a
// browser, where the CPU takes small models only, it is the CPU's plan where that
// is what Open would take. Adapters are those that are to be in use.
//
// Where the model is larger than what it may use, that is ErrDoesNotFit, and
// the plan that was tried comes with it.
func PlanFor(file *gguf.File, opts OpenOptions, adapters ...adapter.Weighted) (*Plan, error) {
	m, err := arch.Open(file)
	if err != nil {
		return nil, err
	}
	for _, a := range adapters {
		if err := a.Check(m); err != nil {
			return nil, err
		}
	}
	n, err := opts.contextFor(m.Config)
	if err != nil {
		return nil, err
	}
	cache, err := opts.KVCache.filled()
	if err != nil {
		return nil, err
	}
	if opts.Device == DeviceCPU {
		return newCPUPlan(m, n, cache)
	}
	device, err := wgslkit.Open(opts.GPU)
	if err == nil && plansForCPU && slowerThanCPU(device, opts) {
		err = errors.Join(wgslkit.ErrNoDevice, device.Close())
	}
	if plansForCPU && opts.Device == DeviceAuto && errors.Is(err, wgslkit.ErrNoDevice) {
		return newCPUPlan(m, n, cache)
	}
	if err != nil {
		return nil, err
	}
	sizing := newSizing(m.Config, n, cache.onGPU(), device.Info().Kind, device.Limits())
	plan, err := newPlan(ops.New(device), m, sizing, opts.TablesInFile, layAdapters(m.Config, adapters))
	return plan, errors.Join(err, device.Close())
}
