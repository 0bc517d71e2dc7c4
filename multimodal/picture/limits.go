package picture

import (
	"cmp"
	"fmt"
)

// Limits of what is decoded. The zero value stands for the defaults.
//
// A decoder holds up to 8 bytes for each pixel (16 bits per channel, or a
// progressive JPEG) beside the 3 of the result; an image that has to be turned
// is there twice for a moment, at 3 bytes each.
type Limits struct {
	MaxPixels int // width · height at most; 0: DefaultMaxPixels
	MaxSide   int // pixels of a side at most; 0: DefaultMaxSide
}

const (
	// DefaultMaxPixels is the model's own limit.
	DefaultMaxPixels = 100_000_000
	// DefaultMaxSide is the longest side that a JPEG can have.
	DefaultMaxSide = 65_535
)

// check refuses a size before there is memory for it.
func (l Limits) check(width, height int) error {
	maxPixels, maxSide := cmp.Or(l.MaxPixels, DefaultMaxPixels), cmp.Or(l.MaxSide, DefaultMaxSide)
	switch {
	case width <= 0 || height <= 0:
		return fmt.Errorf("picture: %d × %d has no pixels: %w", width, height, ErrSize)
	case width > maxSide || height > maxSide:
		return fmt.Errorf("picture: %d × %d: a side is longer than %d pixels; cut or shrink it: %w", width, height,
			maxSide, ErrSize)
	case width > maxPixels/height:
		return fmt.Errorf("picture: %d × %d is over %g megapixels; shrink it: %w", width, height,
			float64(maxPixels)/1e6, ErrSize)
	}
	return nil
}

// CheckSize refuses, with an error wrapping ErrSize, pictures beyond the limits.
func CheckSize(width, height int, limits Limits) error { return limits.check(width, height) }
