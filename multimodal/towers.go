package multimodal

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// visionTower makes soft tokens, [columns/pool · rows/pool, d], of an image's
// patches, [rows·columns, patch·patch·3] in 0 … 1.
type visionTower interface {
	Encode(ctx context.Context, patches []float32, columns, rows int) ([]float32, error)
	Close()
}

// audioTower makes soft tokens, [⌈⌈valid/2⌉/2⌉, d], of mel frames, [frames, 128].
type audioTower interface {
	Encode(ctx context.Context, mel []float32, frames, valid int) ([]float32, error)
	Close()
}

// progress is Options.Progress for one kind of medium.
func (m *Media) progress(kind chat.PartType) func(done, total int) {
	if m.options.Progress == nil {
		return nil
	}
	return func(done, total int) { m.options.Progress(kind, done, total) }
}

// loadVision is the image tower, loaded where it is not yet. The lock is held.
func (m *Media) loadVision(ctx context.Context) (visionTower, error) {
	if m.vision != nil {
		return m.vision, nil
	}
	v, err := m.towers.NeedVision()
	if err != nil {
		return nil, err
	}
	tower, err := m.newVision(ctx, v)
	if err != nil {
		return nil, err
	}
	m.vision = tower
	return tower, nil
}

// loadAudio is the audio tower, loaded where it is not yet. The lock is held.
func (m *Media) loadAudio(ctx context.Context) (audioTower, error) {
	if m.audio != nil {
		return m.audio, nil
	}
	a, err := m.towers.NeedAudio()
	if err != nil {
		return nil, err
	}
	tower, err := m.newAudio(ctx, a)
	if err != nil {
		return nil, err
	}
	m.audio = tower
	return tower, nil
}
