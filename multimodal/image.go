package multimodal

import (
	"context"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal/picture"
)

// image is a picture in the size in which the tower sees it.
type image struct {
	media *Media
	grid  picture.Grid
	rgb   *picture.RGB
}

func (m *Media) prepareImage(ctx context.Context, part *chat.Part) ([]gemma4.PreparedMedium, error) {
	rgb, err := m.decodeImage(ctx, part)
	if err != nil {
		return nil, err
	}
	grid := m.sight.grid
	grid.Budget = m.budget(part)
	w, h, err := picture.Fit(rgb.Width, rgb.Height, grid)
	if err != nil {
		return nil, err
	}
	return []gemma4.PreparedMedium{&image{media: m, grid: grid, rgb: m.sight.resize(rgb, w, h)}}, nil
}

func (m *Media) decodeImage(ctx context.Context, part *chat.Part) (*picture.RGB, error) {
	data, err := bytesOf(part)
	if err != nil {
		return nil, err
	}
	if part.Format == chat.RGBA {
		return picture.FromRGBA(part.Width, part.Height, data, m.options.Pictures)
	}
	return picture.Decode(ctx, data, m.options.Pictures)
}

// Count implements gemma4.PreparedMedium.
func (i *image) Count() int { return i.grid.SoftTokens(i.rgb.Width, i.rgb.Height) }

// Patches is what goes into the tower: [rows·columns, patch·patch·3] in 0 … 1.
func (i *image) Patches() (values []float32, columns, rows int) {
	patch := i.grid.Patch
	return picture.Patches(i.rgb, patch), i.rgb.Width / patch, i.rgb.Height / patch
}

// Encode implements gemma4.PreparedMedium.
func (i *image) Encode(ctx context.Context) ([]float32, error) {
	i.media.mu.Lock()
	defer i.media.mu.Unlock()
	tower, err := i.media.loadVision(ctx)
	if err != nil {
		return nil, err
	}
	patches, columns, rows := i.Patches()
	return tower.Encode(ctx, patches, columns, rows)
}
