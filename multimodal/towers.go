package multimodal

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/sound"
)

// visionTower makes soft tokens, [columns/pool · rows/pool, d], of an image's
// patches, [rows·columns, patch·patch·3] in 0 … 1.
type visionTower interface {
	Encode(ctx context.Context, patches []float32, columns, rows int) ([]float32, error)
	Close()
}

// audioTower makes soft tokens of frames, [frames, width], of which the first valid
// ones hold sound.
type audioTower interface {
	Encode(ctx context.Context, frames []float32, n, valid int) ([]float32, error)
	Close()
}

// sight is how a model sees: how images are cut, and what makes soft tokens of the
// pieces. It is decided when the model's file is opened.
type sight struct {
	grid   picture.Grid // its budget is each image's own
	resize func(m *picture.RGB, width, height int) *picture.RGB
	places[visionTower]
}

func sightOf(t *arch.Towers) *sight {
	switch {
	case t == nil || !t.Images():
		return nil
	case t.Patches != nil:
		return &sight{picture.Grid{Patch: t.Patches.Side, Pool: 1, MaxSide: t.Patches.MaxSide},
			(*picture.RGB).ResizeLikeTorch,
			patchesOf(t.Patches)}
	}
	v := t.Vision
	return &sight{picture.Grid{Patch: v.PatchSize, Pool: v.Pool, MaxSide: v.MaxSide}, (*picture.RGB).Resize,
		visionTowerOf(v)}
}

// hearing is how a model hears: what frames a clip is cut into, and what makes soft
// tokens of them. It is decided when the model's file is opened.
type hearing struct {
	width int // values of a frame
	// cut makes frames, [n, width], of samples of 16 kHz, of which the first valid ones
	// hold sound.
	cut func(samples []float32) (frames []float32, valid int, err error)
	// count is how many soft tokens so many frames give.
	count func(valid int) int
	mel   bool
	places[audioTower]
}

func hearingOf(t *arch.Towers) *hearing {
	switch {
	case t == nil || !t.Sound():
		return nil
	case t.Frames != nil:
		n := t.Frames.Samples
		return &hearing{
			width: n, cut: func(samples []float32) ([]float32, int, error) { return sound.Frames(samples, n) },
			count: func(valid int) int { return valid }, places: framesOf(t.Frames),
		}
	}
	return &hearing{width: arch.MelBins, cut: sound.Mel, count: arch.AudioTokens, mel: true, places: audioTowerOf(t.Audio)}
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
	tower, err := m.sight.load(ctx, m, chat.Image)
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
	tower, err := m.hearing.load(ctx, m, chat.Audio)
	if err != nil {
		return nil, err
	}
	m.audio = tower
	return tower, nil
}
