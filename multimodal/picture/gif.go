//go:build !js

package picture

import (
	"bytes"
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

// withoutTransparency returns the blocks before the first frame with their mark
// of a transparent index taken away, in whose place Go's decoder would put black,
// and that index.
func withoutTransparency(data []byte) (head []byte, transparent uint8) {
	const screenEnd, paletteFlag = 13, 1 << 7
	at := screenEnd
	if len(data) >= screenEnd && data[10]&paletteFlag != 0 {
		at += 3 << (data[10]&7 + 1)
	}
	var controls []int
	for at+1 < len(data) && data[at] == '!' {
		if label := data[at+1]; label == 0xf9 && at+8 <= len(data) {
			controls = append(controls, at)
		}
		at = skipBlocks(data, at+2)
	}
	head = bytes.Clone(data[:min(at, len(data))])
	for _, at := range controls {
		if flags := &head[at+3]; *flags&1 != 0 {
			*flags &^= 1
			transparent = head[at+6]
		}
	}
	return head, transparent
}

// skipBlocks is where a sequence of length-prefixed blocks ends, behind its 0.
func skipBlocks(data []byte, at int) int {
	for at < len(data) && data[at] != 0 {
		at += 1 + int(data[at])
	}
	return min(at+1, len(data))
}
