package finetune

import (
	"context"

	"github.com/gemwire/gemwire/wgslkit"
)

// Profile computes the gradients of the first batch, which are forgotten, and
// tells what each of the GPU's kernels took; nil on the CPU.
func (t *Trainer) Profile(ctx context.Context) ([]wgslkit.KernelTime, error) {
	batches, _ := newOrder(t.data.Train, &t.config).step()
	batch, err := t.batch(ctx, t.data.Train, batches[0], asTheyAre)
	if err != nil {
		return nil, err
	}
	return t.engine.profile(ctx, batch)
}
