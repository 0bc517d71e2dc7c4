package video

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/sound"
)

// Options say how a video is opened. The zero value is a good choice.
type Options struct {
	// Pictures bounds what is decoded.
	Pictures picture.Limits
	// FPS is how many frames a second there are in a folder of them, or in frames that
	// somebody else decoded; 0 is unknown.
	FPS float64
}

// maxFPS is more than any camera takes.
const maxFPS = 1e6

// CheckFPS refuses what is no number of frames a second; 0 is unknown.
func CheckFPS(fps float64) error {
	if !(fps >= 0) || fps > maxFPS || fps != 0 && fps < 1/maxFPS {
		return fmt.Errorf("video: %g frames a second: %w", fps, ErrFrames)
	}
	return nil
}

// Clip is an open video. It has to be closed.
type Clip struct {
	Frames int     // how many it has
	FPS    float64 // of them a second; 0 is unknown

	// given are, of frames that somebody else chose, their numbers in the whole.
	given []int
	each  func(ctx context.Context, wanted []int, yield func(i int, m *picture.RGB) error) error
	sound func(ctx context.Context, limits sound.Limits) (*sound.Samples, error) // nil for none
	close func() error                                                           // nil for nothing to do
}

// Close frees what the clip holds.
func (c *Clip) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// Sample chooses at most so many frames evenly; 0 means DefaultFrames. Of frames that
// somebody else chose it takes all.
func (c *Clip) Sample(most int) []int {
	if c.given != nil {
		return Sample(len(c.given), len(c.given))
	}
	return Sample(c.Frames, cmp.Or(most, DefaultFrames))
}

// Stamp is when a frame is seen, MM:SS.
func (c *Clip) Stamp(i int) string {
	if c.given != nil {
		i = c.given[i]
	}
	return Stamp(i, c.FPS)
}

// Each calls yield with the frames whose numbers are wanted, in ascending order. A frame
// that the video turns out not to have is left out at its end.
func (c *Clip) Each(ctx context.Context, wanted []int, yield func(i int, m *picture.RGB) error) error {
	return c.each(ctx, wanted, yield)
}

// Sound is what is heard, or an error wrapping ErrNoSound.
func (c *Clip) Sound(ctx context.Context, limits sound.Limits) (*sound.Samples, error) {
	if c.sound == nil {
		return nil, fmt.Errorf("video: %w", ErrNoSound)
	}
	return c.sound(ctx, limits)
}

// FromRGBA takes frames that somebody else decoded, one behind the other: [n, height,
// width, 4] as [picture.FromRGBA] takes one, and their numbers in the whole video.
func FromRGBA(width, height int, pix []byte, indices []int, o Options) (*Clip, error) {
	if err := CheckFPS(o.FPS); err != nil {
		return nil, err
	}
	n := len(indices)
	if n < 1 || n > MaxFrames || width < 1 || height < 1 || width > math.MaxInt32/height ||
		len(pix)/4/n != width*height || len(pix)%(4*n) != 0 {
		return nil, fmt.Errorf("video: %d bytes for %d frames of %d × %d pixels, 1 to %d of them: %w", len(pix), n, width,
			height, MaxFrames, ErrFrames)
	}
	last := -1
	for _, i := range indices {
		if i < 0 || i < last {
			return nil, fmt.Errorf("video: frame %d comes after frame %d; give them in ascending order: %w", i, last,
				ErrFrames)
		}
		last = i
	}
	size := 4 * width * height
	return &Clip{Frames: n, FPS: o.FPS, given: indices,
		each: func(ctx context.Context, wanted []int, yield func(int, *picture.RGB) error) error {
			for _, i := range wanted {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				m, err := picture.FromRGBA(width, height, pix[i*size:(i+1)*size], o.Pictures)
				if err == nil {
					err = yield(i, m)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}}, nil
}
