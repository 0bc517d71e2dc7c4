package picture_test

import (
	"errors"
	"image"
	"image/color"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/google/go-cmp/cmp"
)

// Colours under transparency are kept: nothing is blended, nothing is black.
func TestFromImageDropsAlpha(t *testing.T) {
	area := image.Rect(-3, 5, -1, 6) // an origin other than 0, 0
	want := []uint8{200, 100, 50, 10, 20, 30}
	colors := []color.NRGBA{{200, 100, 50, 255}, {10, 20, 30, 0}}
	half := []color.NRGBA{{200, 100, 50, 255}, {10, 20, 30, 255}}
	nrgba64 := image.NewNRGBA64(area)
	for i, c := range colors { // Set would multiply by alpha
		nrgba64.SetNRGBA64(area.Min.X+i, area.Min.Y,
			color.NRGBA64{uint16(c.R)<<8 | 0xff, uint16(c.G) << 8, uint16(c.B) << 8, uint16(c.A) * 257})
	}
	paletted := image.NewPaletted(area, color.Palette{colors[0], colors[1]})
	paletted.Pix[1] = 1
	for name, m := range map[string]image.Image{
		"NRGBA":    set(image.NewNRGBA(area), colors),
		"NRGBA64":  nrgba64,
		"RGBA":     set(image.NewRGBA(area), half),
		"RGBA64":   set(image.NewRGBA64(area), half),
		"Paletted": paletted,
	} {
		t.Run(name, func(t *testing.T) {
			got := picture.FromImage(m)
			if diff := cmp.Diff(&picture.RGB{Width: 2, Height: 1, Pix: want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func set[I interface {
	image.Image
	Set(x, y int, c color.Color)
}](m I, colors []color.NRGBA) image.Image {
	for i, c := range colors {
		m.Set(m.Bounds().Min.X+i, m.Bounds().Min.Y, c)
	}
	return m
}

// Colours stored multiplied by alpha are divided by it again.
func TestFromImageUndoesMultiplication(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 1, 1))
	m.SetRGBA(0, 0, color.RGBA{60, 30, 15, 60})
	if got := picture.FromImage(m).Pix; !slices.Equal(got, []uint8{255, 127, 63}) {
		t.Error(got)
	}
}

func TestFromImageGray(t *testing.T) {
	gray := image.NewGray(image.Rect(0, 0, 2, 1))
	gray.Pix = []uint8{7, 200}
	deep := image.NewGray16(gray.Rect)
	deep.Pix = []uint8{7, 255, 200, 1}
	for _, m := range []image.Image{gray, deep} {
		if got := picture.FromImage(m).Pix; !slices.Equal(got, []uint8{7, 7, 7, 200, 200, 200}) {
			t.Errorf("%T: %v", m, got)
		}
	}
}

// Chroma without any difference stays so, in every layout and in parts of images
// that start between two of its values.
func TestFromImageChroma(t *testing.T) {
	want := []uint8{255, 107, 17}
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		whole := image.NewYCbCr(image.Rect(0, 0, 13, 9), ratio)
		fill(whole.Y, 141)
		fill(whole.Cb, 58)
		fill(whole.Cr, 210)
		for _, area := range []image.Rectangle{whole.Rect, image.Rect(4, 2, 12, 9), image.Rect(3, 1, 8, 9),
			image.Rect(12, 8, 13, 9)} {
			m := picture.FromImage(whole.SubImage(area))
			if m.Width != area.Dx() || m.Height != area.Dy() {
				t.Fatalf("%v %v: %d × %d", ratio, area, m.Width, m.Height)
			}
			for i, v := range m.Pix {
				if d := int(v) - int(want[i%3]); d < -1 || d > 1 {
					t.Fatalf("%v %v: %v, want %v", ratio, area, m.Pix[i-i%3:i-i%3+3], want)
				}
			}
		}
	}
}

func fill(plane []uint8, v uint8) {
	for i := range plane {
		plane[i] = v
	}
}

func TestFromRGBA(t *testing.T) {
	pix := []uint8{1, 2, 3, 4, 5, 6, 7, 8}
	got, err := picture.FromRGBA(1, 2, pix, picture.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&picture.RGB{Width: 1, Height: 2, Pix: []uint8{1, 2, 3, 5, 6, 7}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, c := range []struct {
		width, height int
		limits        picture.Limits
	}{
		{2, 2, picture.Limits{}},
		{0, 0, picture.Limits{}},
		{-1, -2, picture.Limits{}},
		{1, 2, picture.Limits{MaxPixels: 1}},
		{1, 2, picture.Limits{MaxSide: 1}},
		{1 << 40, 1 << 40, picture.Limits{}},
	} {
		if _, err := picture.FromRGBA(c.width, c.height, pix, c.limits); !errors.Is(err, picture.ErrSize) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
