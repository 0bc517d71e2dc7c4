//go:build !js

package picture

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"image/draw"
	"time"

	"github.com/gemwire/gemwire/multimodal/internal/magic"
)

// Animation is a GIF, WebP or PNG of several frames. Frames are decoded one after another
// when they are asked for.
type Animation struct {
	Width, Height int
	// Duration is how long all frames are shown together; 0 where the file does not say.
	Duration time.Duration

	name   string
	frames []frame
}

// frame is a part of an animation's canvas as the file holds it.
type frame struct {
	at      image.Rectangle
	delay   time.Duration
	over    bool // drawn over what is there; else in its place
	dispose disposal
	// decode gives the pixels, of at's size.
	decode func(ctx context.Context) (*image.NRGBA, error)
}

// disposal is what becomes of a frame when the next one is drawn.
type disposal int

const (
	keep       disposal = iota
	clear               // its part becomes transparent
	toPrevious          // its part becomes what it was before
)

// animations are the formats with several frames, told by their first bytes.
var animations = []struct {
	name, magic string
	parse       func([]byte) (*Animation, error)
}{
	{"GIF", "GIF8?a", parseGIF},
	{"WebP", "RIFF????WEBPVP8X", parseAnimatedWebP},
	{"PNG", "\x89PNG\r\n\x1a\n", parseAPNG},
}

// OpenAnimation finds the frames of an animated GIF, WebP or PNG, and decodes none. One
// with a single frame is none: it is an image. Files of other formats are ErrFormat.
func OpenAnimation(data []byte, limits Limits) (*Animation, error) {
	for _, f := range animations {
		if !magic.Match(data, f.magic) {
			continue
		}
		a, err := f.parse(data)
		if err != nil {
			return nil, fmt.Errorf("picture: %s: %w: %w", f.name, err, ErrDamaged)
		}
		a.name = f.name
		return a, a.check(limits)
	}
	return nil, fmt.Errorf("picture: no animation: %w", ErrFormat)
}

// maxAnimationPixels bounds the pixels of all frames together, as a multiple of those of
// the largest image.
const maxAnimationPixels = 20

func (a *Animation) check(limits Limits) error {
	if err := limits.check(a.Width, a.Height); err != nil {
		return err
	}
	most, all := maxAnimationPixels*cmp.Or(limits.MaxPixels, DefaultMaxPixels), 0
	for i, f := range a.frames {
		if !f.at.In(image.Rect(0, 0, a.Width, a.Height)) || f.at.Empty() {
			return fmt.Errorf("picture: %s: frame %d does not lie in the picture: %w", a.name, i, ErrDamaged)
		}
		if all += f.at.Dx() * f.at.Dy(); all > most {
			return fmt.Errorf("picture: the frames of an animation have over %d megapixels together; shorten or "+
				"shrink it: %w", most/1e6, ErrSize)
		}
		a.Duration += f.delay
	}
	return nil
}

// Frames is how many there are.
func (a *Animation) Frames() int { return len(a.frames) }

// Each calls yield with the frames whose numbers are wanted, in ascending order. Frames
// that nobody wants are decoded as well, for those behind them lie on top.
func (a *Animation) Each(ctx context.Context, wanted []int, yield func(i int, m *RGB) error) error {
	canvas := image.NewNRGBA(image.Rect(0, 0, a.Width, a.Height))
	for i := 0; i < len(a.frames) && len(wanted) > 0; i++ {
		if ctx.Err() != nil {
			return fmt.Errorf("picture: %s: %w", a.name, context.Cause(ctx))
		}
		f := &a.frames[i]
		var before *image.NRGBA
		if f.dispose == toPrevious {
			before = image.NewNRGBA(f.at)
			draw.Draw(before, f.at, canvas, f.at.Min, draw.Src)
		}
		if err := f.draw(ctx, canvas); err != nil {
			return format{name: a.name}.explain(ctx, fmt.Errorf("frame %d: %w", i, err))
		}
		for len(wanted) > 0 && wanted[0] <= i {
			if wanted[0] == i {
				if err := yield(i, FromImage(canvas)); err != nil {
					return err
				}
			}
			wanted = wanted[1:]
		}
		switch f.dispose {
		case clear:
			draw.Draw(canvas, f.at, image.Transparent, image.Point{}, draw.Src)
		case toPrevious:
			draw.Draw(canvas, f.at, before, f.at.Min, draw.Src)
		}
	}
	return nil
}

// draw puts the frame on the canvas.
func (f *frame) draw(ctx context.Context, canvas *image.NRGBA) error {
	m, err := f.decode(ctx)
	if err != nil {
		return err
	}
	if m.Rect.Dx() != f.at.Dx() || m.Rect.Dy() != f.at.Dy() {
		return fmt.Errorf("%v of pixels for %v of the picture", m.Rect.Size(), f.at.Size())
	}
	for y := range f.at.Dy() {
		dst := canvas.Pix[canvas.PixOffset(f.at.Min.X, f.at.Min.Y+y):][:4*f.at.Dx()]
		src := m.Pix[m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+y):][:4*f.at.Dx()]
		if !f.over {
			copy(dst, src)
			continue
		}
		for x := 0; x < len(dst); x += 4 {
			blend(dst[x:x+4], src[x:x+4])
		}
	}
	return nil
}

// blend puts one pixel over another, colours not multiplied by alpha.
func blend(dst, src []uint8) {
	switch a := int(src[3]); a {
	case 0:
	case 255:
		copy(dst, src)
	default:
		below := int(dst[3]) * (255 - a) / 255
		sum := a + below
		for c := range 3 {
			dst[c] = uint8((int(src[c])*a + int(dst[c])*below) / sum)
		}
		dst[3] = uint8(sum)
	}
}

// nrgba is any image as NRGBA.
func nrgba(m image.Image) *image.NRGBA {
	if n, ok := m.(*image.NRGBA); ok {
		return n
	}
	n := image.NewNRGBA(m.Bounds())
	draw.Draw(n, n.Rect, m, n.Rect.Min, draw.Src)
	return n
}

// shown is how long a frame is shown, for files whose delays browsers do not believe.
func shown(delay time.Duration) time.Duration {
	const believed, otherwise = 10 * time.Millisecond, 100 * time.Millisecond
	if delay <= believed {
		return otherwise
	}
	return delay
}
