//go:build !js

package picture

import (
	"context"
	"image"
	"image/gif"
	"io"
)

// decodeGIF reads the first frame. Pixels that it leaves out of the screen, and
// those marked as transparent, have the colour that the palette holds for the
// transparent index, or for index 0, as with Pillow.
func decodeGIF(ctx context.Context, data []byte, config image.Config) (*RGB, error) {
	head, transparent := withoutTransparency(data)
	m, err := gif.Decode(io.MultiReader(newReader(ctx, head), newReader(ctx, data[len(head):])))
	if err != nil {
		return nil, err
	}
	frame := m.(*image.Paletted)
	if frame.Rect.Dx() == config.Width && frame.Rect.Dy() == config.Height {
		return FromImage(frame), nil
	}
	screen := image.NewPaletted(image.Rect(0, 0, config.Width, config.Height), frame.Palette)
	for i := range screen.Pix {
		screen.Pix[i] = transparent
	}
	for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y; y++ {
		row := frame.Pix[frame.PixOffset(frame.Rect.Min.X, y):][:frame.Rect.Dx()]
		copy(screen.Pix[screen.PixOffset(frame.Rect.Min.X, y):], row)
	}
	return FromImage(screen), nil
}
