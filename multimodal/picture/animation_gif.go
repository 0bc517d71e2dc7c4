//go:build !js

package picture

import (
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"io"
	"time"
)

var errCut = errors.New("it ends in the middle of a block")

// parseGIF finds the frames of a GIF: each image block with the graphic control in front
// of it. A frame is decoded as a GIF of its own.
func parseGIF(data []byte) (*Animation, error) {
	const screenEnd, paletteFlag = 13, 1 << 7
	if len(data) < screenEnd {
		return nil, errCut
	}
	a := &Animation{Width: int(binary.LittleEndian.Uint16(data[6:])), Height: int(binary.LittleEndian.Uint16(data[8:]))}
	at := screenEnd
	if data[10]&paletteFlag != 0 {
		at += 3 << (data[10]&7 + 1)
	}
	if at > len(data) {
		return nil, errCut
	}
	head := data[:at]
	var control []byte
	for at < len(data) && data[at] != ';' {
		begin := at
		switch data[at] {
		case '!':
			if at+1 >= len(data) {
				return a, nil
			}
			isControl := data[at+1] == 0xf9
			at = skipBlocks(data, at+2)
			if isControl && at-begin == 8 {
				control = data[begin:at]
			}
		case ',':
			if at+10 > len(data) {
				return a, nil
			}
			descriptor := data[at : at+10]
			at += 10
			if descriptor[9]&paletteFlag != 0 {
				at += 3 << (descriptor[9]&7 + 1)
			}
			at = skipBlocks(data, min(at+1, len(data)))
			a.frames = append(a.frames, gifFrame(head, control, data[begin:at], descriptor))
			control = nil
		default:
			return a, nil // what browsers show ends here too
		}
	}
	return a, nil
}

func gifFrame(head, control, block, descriptor []byte) frame {
	le := binary.LittleEndian
	x, y := int(le.Uint16(descriptor[1:])), int(le.Uint16(descriptor[3:]))
	f := frame{
		at: image.Rect(x, y, x+int(le.Uint16(descriptor[5:])), y+int(le.Uint16(descriptor[7:]))), over: true,
		decode: func(ctx context.Context) (*image.NRGBA, error) {
			m, err := gif.Decode(io.MultiReader(newReader(ctx, head), newReader(ctx, control), newReader(ctx, block),
				newReader(ctx, []byte{';'})))
			if err != nil {
				return nil, err
			}
			return nrgba(m), nil
		},
	}
	var delay time.Duration
	if control != nil {
		delay = time.Duration(le.Uint16(control[4:])) * 10 * time.Millisecond
		switch control[3] >> 2 & 7 {
		case 2:
			f.dispose = clear
		case 3:
			f.dispose = toPrevious
		}
	}
	f.delay = shown(delay)
	return f
}
