package picture

import "image"

// fromYCbCr converts as libjpeg does: chroma that was stored at half the
// resolution is interpolated between neighbours ("fancy upsampling", jdsample.c),
// where Go's own conversion repeats it; colours are computed in fixed point
// (jdcolor.c).
func fromYCbCr(m *image.YCbCr) *RGB {
	return convertPlanes(m, (*chroma).likeLibjpeg, jpegColor)
}

// convertPlanes makes RGB of luma and of chroma that upsample has brought to the
// luma's resolution, row by row.
func convertPlanes(m *image.YCbCr, upsample func(*chroma, int) []uint8, color func(dst []uint8, y, cb, cr uint8)) *RGB {
	out := newRGB(m.Rect.Dx(), m.Rect.Dy())
	blue, red := newChroma(m, m.Cb), newChroma(m, m.Cr)
	for y := range out.Height {
		luma := m.Y[m.YOffset(m.Rect.Min.X, m.Rect.Min.Y+y):]
		cb, cr := upsample(blue, y), upsample(red, y)
		dst := out.row(y)
		for x := range out.Width {
			color(dst[3*x:3*x+3], luma[x], cb[x], cr[x])
		}
	}
	return out
}

// jpegColor is R = Y + 1.402·Cr, G = Y − 0.344136·Cb − 0.714136·Cr, B = Y + 1.772·Cb
// with 16 binary places, for Cb and Cr around 128.
func jpegColor(dst []uint8, y, cb, cr uint8) {
	const half = 1 << 15
	l, b, r := int(y), int(cb)-128, int(cr)-128
	dst[0] = clamp(l + (91881*r+half)>>16)
	dst[1] = clamp(l + (half-22554*b-46802*r)>>16)
	dst[2] = clamp(l + (116130*b+half)>>16)
}

func clamp(v int) uint8 { return uint8(min(max(v, 0), 255)) }

// A chroma is one chroma plane on its way to the resolution of the luma plane.
type chroma struct {
	plane                []uint8
	stride               int
	columns, rows        int
	horizontal, vertical int     // pixels of the image for one value
	sums                 []int   // a row of the plane mixed with the next nearest
	line                 []uint8 // a row of the image
}

func newChroma(m *image.YCbCr, plane []uint8) *chroma {
	horizontal, vertical := subsampling(m.SubsampleRatio)
	columns := (m.Rect.Dx() + horizontal - 1) / horizontal
	return &chroma{
		plane:      plane[m.COffset(m.Rect.Min.X, m.Rect.Min.Y):],
		stride:     m.CStride,
		columns:    columns,
		rows:       (m.Rect.Dy() + vertical - 1) / vertical,
		horizontal: horizontal,
		vertical:   vertical,
		sums:       make([]int, columns),
		line:       make([]uint8, columns*horizontal),
	}
}

// subsampling is how many pixels share a value of chroma, across and down.
func subsampling(ratio image.YCbCrSubsampleRatio) (horizontal, vertical int) {
	switch ratio {
	case image.YCbCrSubsampleRatio422:
		return 2, 1
	case image.YCbCrSubsampleRatio420:
		return 2, 2
	case image.YCbCrSubsampleRatio440:
		return 1, 2
	case image.YCbCrSubsampleRatio411:
		return 4, 1
	case image.YCbCrSubsampleRatio410:
		return 4, 2
	}
	return 1, 1
}

// wholeChroma says whether an image, which may be a part of another, starts where
// a value of its chroma does.
func wholeChroma(m *image.YCbCr) bool {
	horizontal, vertical := subsampling(m.SubsampleRatio)
	return m.Rect.Min.X%horizontal == 0 && m.Rect.Min.Y%vertical == 0
}

// nearest returns the row of the plane that row y of the image lies in, and the
// next nearest to it.
func (c *chroma) nearest(y int) (near, far []uint8) {
	n := y / c.vertical
	f := n
	if c.vertical == 2 {
		f = min(max(n-1+2*(y%2), 0), c.rows-1)
	}
	return c.plane[n*c.stride:][:c.columns], c.plane[f*c.stride:][:c.columns]
}

// likeLibjpeg is row y, with three quarters of the nearest value and one of the
// next on each axis that has half the resolution. Roundings alternate between
// neighbours. Planes of one or two columns, and quarter resolutions, are repeated.
func (c *chroma) likeLibjpeg(y int) []uint8 {
	near, far := c.nearest(y)
	switch {
	case c.horizontal == 4 || c.horizontal == 2 && c.columns <= 2:
		for x := range c.line {
			c.line[x] = near[x/c.horizontal]
		}
		return c.line
	case c.horizontal == 1 && c.vertical == 1:
		return near
	case c.horizontal == 1:
		for x := range c.line {
			c.line[x] = uint8((3*int(near[x]) + int(far[x]) + 1 + y%2) >> 2)
		}
		return c.line
	case c.vertical == 1:
		for x, v := range near {
			c.sums[x] = int(v)
		}
		return c.widen(1, 2, 2)
	}
	for x, v := range near {
		c.sums[x] = 3*int(v) + int(far[x])
	}
	return c.widen(8, 7, 4)
}

// widen doubles a row of sums, adding even and odd before the shift.
func (c *chroma) widen(even, odd, shift int) []uint8 {
	last := len(c.sums) - 1
	for x, sum := range c.sums {
		c.line[2*x] = uint8((3*sum + c.sums[max(x-1, 0)] + even) >> shift)
		c.line[2*x+1] = uint8((3*sum + c.sums[min(x+1, last)] + odd) >> shift)
	}
	return c.line
}
