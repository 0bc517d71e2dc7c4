package picture

import "fmt"

// RGB is an upright image of 8 bits per channel without transparency.
type RGB struct {
	Width, Height int
	Pix           []uint8 // [Height, Width, 3]
}

func newRGB(width, height int) *RGB {
	return &RGB{Width: width, Height: height, Pix: make([]uint8, 3*width*height)}
}

// row is the pixels of row y.
func (m *RGB) row(y int) []uint8 { return m.Pix[3*m.Width*y : 3*m.Width*(y+1)] }

// FromRGBA takes pixels [height, width, 4] as a browser's canvas hands them
// out: 8 bits each of red, green, blue and alpha, not multiplied by alpha, which
// is dropped. Pixels are copied.
//
// For the same pixels as natively, create the bitmap with premultiplyAlpha
// "none" and colorSpaceConversion "none", and draw it unscaled. A canvas itself
// stores colours multiplied by alpha: what is wholly transparent comes back
// black, and what is partly so some levels off.
func FromRGBA(width, height int, pix []uint8, limits Limits) (*RGB, error) {
	if err := limits.check(width, height); err != nil {
		return nil, err
	}
	if len(pix) != 4*width*height {
		return nil, fmt.Errorf("picture: %d bytes for %d × %d pixels of RGBA, want %d: %w", len(pix), width, height,
			4*width*height, ErrSize)
	}
	m := newRGB(width, height)
	dropFourth(m.Pix, pix)
	return m, nil
}

// dropFourth copies pixels of four bytes to pixels of three.
func dropFourth(dst, src []uint8) {
	for len(dst) >= 3 && len(src) >= 4 {
		dst[0], dst[1], dst[2] = src[0], src[1], src[2]
		dst, src = dst[3:], src[4:]
	}
}
