package gemma4

import (
	"errors"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// PlanFor says where the tensors of a model would live on the GPU that opts ask
// for, from the file's header alone: nothing is loaded, and file stays open.
//
// Where the model is larger than what it may use, that is ErrDoesNotFit, and
// the plan that was tried comes with it.
func PlanFor(file *gguf.File, opts OpenOptions) (*Plan, error) {
	m, err := arch.Open(file)
	if err != nil {
		return nil, err
	}
	n, err := opts.contextFor(m.Config)
	if err != nil {
		return nil, err
	}
	device, err := wgslkit.Open(opts.GPU)
	if err != nil {
		return nil, err
	}
	sizing := newSizing(m.Config, n, device.Info().Kind, device.Limits())
	plan, err := newPlan(ops.New(device), m, sizing)
	return plan, errors.Join(err, device.Close())
}
