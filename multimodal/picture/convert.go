package picture

import (
	"image"
	"image/color"
)

// FromImage drops an image's transparency and brings its colours to 8 bits: of
// 16 bits the upper eight, of colours that are stored multiplied by alpha the
// colours themselves.
//
// YCbCr is taken as JPEG has it, with chroma interpolated as libjpeg does, and
// CMYK as Pillow takes it.
func FromImage(m image.Image) *RGB {
	switch m := m.(type) {
	case *image.YCbCr:
		if wholeChroma(m) {
			return fromYCbCr(m)
		}
	case *image.NYCbCrA:
		return FromImage(&m.YCbCr)
	}
	bounds := m.Bounds()
	out := newRGB(bounds.Dx(), bounds.Dy())
	convert := rowConverter(m)
	for y := range out.Height {
		convert(out.row(y), bounds.Min.Y+y)
	}
	return out
}

// rowConverter returns what writes row y of m, in m's own coordinates.
func rowConverter(m image.Image) func(dst []uint8, y int) {
	left := m.Bounds().Min.X
	switch m := m.(type) {
	case *image.Gray:
		return func(dst []uint8, y int) { grayRow(dst, m.Pix[m.PixOffset(left, y):]) }
	case *image.NRGBA:
		return func(dst []uint8, y int) { dropFourth(dst, m.Pix[m.PixOffset(left, y):]) }
	case *image.NRGBA64:
		return func(dst []uint8, y int) { upperBytes(dst, m.Pix[m.PixOffset(left, y):]) }
	case *image.RGBA:
		if m.Opaque() {
			return func(dst []uint8, y int) { dropFourth(dst, m.Pix[m.PixOffset(left, y):]) }
		}
	case *image.RGBA64:
		if m.Opaque() {
			return func(dst []uint8, y int) { upperBytes(dst, m.Pix[m.PixOffset(left, y):]) }
		}
	case *image.CMYK:
		return func(dst []uint8, y int) { cmykRow(dst, m.Pix[m.PixOffset(left, y):]) }
	case *image.Paletted:
		palette := paletteRGB(m.Palette)
		return func(dst []uint8, y int) { paletteRow(dst, m.Pix[m.PixOffset(left, y):], palette) }
	}
	return func(dst []uint8, y int) {
		for x := left; len(dst) > 0; x, dst = x+1, dst[3:] {
			setColor(dst, m.At(x, y))
		}
	}
}

// setColor writes a colour of any model, without its alpha.
func setColor(dst []uint8, c color.Color) {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	dst[0], dst[1], dst[2] = n.R, n.G, n.B
}

func grayRow(dst, src []uint8) {
	for len(dst) >= 3 {
		dst[0], dst[1], dst[2] = src[0], src[0], src[0]
		dst, src = dst[3:], src[1:]
	}
}

// upperBytes takes the upper half of 16-bit channels, big-endian, four to a pixel.
func upperBytes(dst, src []uint8) {
	for len(dst) >= 3 {
		dst[0], dst[1], dst[2] = src[0], src[2], src[4]
		dst, src = dst[3:], src[8:]
	}
}

func paletteRGB(p color.Palette) *[256][3]uint8 {
	var rgb [256][3]uint8 // what p lacks is black
	for i, c := range p[:min(len(p), 256)] {
		setColor(rgb[i][:], c)
	}
	return &rgb
}

func paletteRow(dst, src []uint8, palette *[256][3]uint8) {
	for len(dst) >= 3 {
		copy(dst, palette[src[0]][:])
		dst, src = dst[3:], src[1:]
	}
}

// cmykRow takes ink off the white that black ink leaves, as Pillow does:
// red = (255 − K) − C·(255 − K)/255, rounded.
func cmykRow(dst, src []uint8) {
	for len(dst) >= 3 {
		white := 255 - int(src[3])
		for i := range 3 {
			dst[i] = uint8(white - divide255(int(src[i])*white))
		}
		dst, src = dst[3:], src[4:]
	}
}

// divide255 is x / 255, rounded, for x up to 255².
func divide255(x int) int {
	x += 128
	return (x + x>>8) >> 8
}
