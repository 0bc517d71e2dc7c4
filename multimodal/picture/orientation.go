//go:build !js

package picture

// upright undoes the turn that EXIF's orientation tells of: 1 none, 2 mirrored,
// 3 turned by half, 4 upside down, 5 to 8 the same with rows and columns
// exchanged. Any other value counts as 1.
func (m *RGB) upright(orientation int) *RGB {
	if orientation < 2 || orientation > 8 {
		return m
	}
	swap := orientation >= 5
	fromRight := orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8
	fromBottom := orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7
	out := newRGB(m.Width, m.Height)
	if swap {
		out.Width, out.Height = m.Height, m.Width
	}
	for y := range out.Height {
		dst := out.row(y)
		for x := range out.Width {
			// The stored pixel that is seen at (x, y).
			sx, sy := x, y
			if swap {
				sx, sy = y, x
			}
			if fromRight {
				sx = m.Width - 1 - sx
			}
			if fromBottom {
				sy = m.Height - 1 - sy
			}
			src := m.Pix[3*(sy*m.Width+sx):]
			dst[3*x], dst[3*x+1], dst[3*x+2] = src[0], src[1], src[2]
		}
	}
	return out
}
