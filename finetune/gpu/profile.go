package gpu

import (
	"context"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/wgslkit"
)

// Profile computes a batch's gradients, which are forgotten, and tells what each
// kernel took; see wgslkit.Program.Profile.
func (m *Machine) Profile(ctx context.Context, batch *tape.Batch) ([]wgslkit.KernelTime, error) {
	if _, err := m.Gradients(ctx, batch, 1); err != nil {
		return nil, err
	}
	p := m.plan
	var all []wgslkit.KernelTime
	for _, part := range []struct {
		program        *program
		width, replays int
	}{
		{p.forward, batch.Len(), 1}, {p.forwardAsked, len(batch.Asked), 1},
		{p.loss, min(p.lossPart, len(batch.Asked)), (len(batch.Asked) + p.lossPart - 1) / p.lossPart},
		{p.backAsked, len(batch.Asked), 1}, {p.back, batch.Len(), 1},
	} {
		for range part.replays {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			times, err := part.program.Profile(part.width)
			if err != nil {
				return nil, err
			}
			all = append(all, times...)
		}
	}
	return wgslkit.Total(all), m.Forget()
}
