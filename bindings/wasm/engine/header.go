package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

// header opens the request's sources as one model: the parts of its text model
// and, behind them, the projector. It leaves the assistant's, where there is one.
func (c *call) header(ctx context.Context, p OpenParams) (*gguf.File, error) {
	parts, assistants := max(p.Parts, 1), 0
	if p.Assistant {
		assistants = 1
	}
	n := len(c.sources) - assistants
	if n != parts && n != parts+1 {
		return nil, fmt.Errorf("%w: %s with %d sources for %d parts", errProtocol, c.Op, len(c.sources), parts)
	}
	sources := c.sources[:n:n]
	c.sources = c.sources[n:]
	progress := c.headerProgress()
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

func (c *call) headerProgress() gguf.Option {
	return gguf.WithProgress(func(read, expected int64) {
		c.event(LoadProgress{Phase: phases[gemma4.PhaseHeader], Done: read, Total: expected})
	})
}

// attachAssistant gives a model the assistant that is left of the request's sources,
// where there is one.
func (c *call) attachAssistant(ctx context.Context, m *gemma4.Model, o gemma4.OpenOptions) error {
	for _, source := range c.takeSources() {
		file, err := gguf.Open(ctx, source, c.headerProgress())
		if err != nil {
			return errors.Join(fmt.Errorf("assistant: %w", err), source.Close())
		}
		if err := m.AttachAssistant(ctx, file, o); err != nil {
			return err
		}
	}
	return nil
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
