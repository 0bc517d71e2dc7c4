package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

// header opens the request's sources as one model: the parts of its text model
// and, behind them, the projector.
func (c *call) header(ctx context.Context, p OpenParams) (*gguf.File, error) {
	parts := max(p.Parts, 1)
	if n := len(c.sources); n != parts && n != parts+1 {
		return nil, fmt.Errorf("%w: %s with %d sources for %d parts", errProtocol, c.Op, n, parts)
	}
	sources := c.takeSources()
	progress := gguf.WithProgress(func(read, expected int64) {
		c.event(LoadProgress{Phase: phases[gemma4.PhaseHeader], Done: read, Total: expected})
	})
	file, err := gguf.OpenParts(ctx, sources[:parts], progress)
	if err != nil {
		closeAll(sources)
		return nil, err
	}
	for _, source := range sources[parts:] {
		if err := joinProjector(ctx, file, source, progress); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return file, nil
}

// joinProjector adds the towers in source to file, which closes it from then on.
func joinProjector(ctx context.Context, file *gguf.File, source gguf.Source, progress gguf.Option) error {
	projector, err := gguf.Open(ctx, source, progress)
	if err != nil {
		return errors.Join(fmt.Errorf("mmproj: %w", err), source.Close())
	}
	if err := file.Join(projector); err != nil {
		return errors.Join(fmt.Errorf("mmproj: %w", err), projector.Close())
	}
	return nil
}
