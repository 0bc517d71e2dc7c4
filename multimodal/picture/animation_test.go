//go:build !js

package picture_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"slices"
	"testing"
	"time"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// frames are those that Pillow made of an animation, one below the other.
func frames(t *testing.T, name string, height int) (list []*image.NRGBA) {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(readFile(t, "testdata", "animations", name+".frames.png")))
	if err != nil {
		t.Fatal(err)
	}
	all := image.NewNRGBA(m.Bounds())
	draw.Draw(all, all.Rect, m, image.Point{}, draw.Src)
	for y := 0; y < all.Rect.Dy(); y += height {
		list = append(list, all.SubImage(image.Rect(0, y, all.Rect.Dx(), y+height)).(*image.NRGBA))
	}
	return list
}

func TestAnimations(t *testing.T) {
	for name, duration := range map[string]time.Duration{
		"plain.gif": 400, "disposal1.gif": 500, "disposal2.gif": 500, "disposal3.gif": 500,
		"lossless.webp": 350, "lossy.webp": 500, "plain.webp": 500,
		"disposal00.png": 500, "disposal01.png": 500, "disposal10.png": 500, "disposal11.png": 500,
		"disposal20.png": 500, "disposal21.png": 500, "palette.png": 625,
	} {
		t.Run(name, func(t *testing.T) {
			a, err := picture.OpenAnimation(readFile(t, "testdata", "animations", name), picture.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if a.Frames() != 5 || a.Width != 37 || a.Height != 23 || a.Duration != duration*time.Millisecond {
				t.Fatalf("%d frames of %d × %d in %v", a.Frames(), a.Width, a.Height, a.Duration)
			}
			want := frames(t, name, a.Height)
			var seen []int
			err = a.Each(context.Background(), []int{0, 2, 3, 4}, func(i int, m *picture.RGB) error {
				seen = append(seen, i)
				compareFrame(t, i, m, want[i])
				return nil
			})
			if err != nil || !slices.Equal(seen, []int{0, 2, 3, 4}) {
				t.Errorf("frames %v, %v", seen, err)
			}
		})
	}
}

// compareFrame holds what is visible to Pillow's; what is partly transparent may be a
// rounding off.
func compareFrame(t *testing.T, i int, got *picture.RGB, want *image.NRGBA) {
	t.Helper()
	worst := 0
	for p := range got.Width * got.Height {
		w := want.Pix[4*p : 4*p+4]
		for c := range 3 {
			if w[3] != 0 {
				d := int(got.Pix[3*p+c]) - int(w[c])
				worst = max(worst, d, -d)
			}
		}
	}
	if worst > 2 {
		t.Errorf("frame %d is up to %d levels off", i, worst)
	}
}

func TestAnimationRefuses(t *testing.T) {
	gif := readFile(t, "testdata", "animations", "plain.gif")
	webp := readFile(t, "testdata", "animations", "lossless.webp")
	apng := readFile(t, "testdata", "animations", "disposal10.png")
	for name, c := range map[string]struct {
		data   []byte
		limits picture.Limits
		want   error
	}{
		"nothing":       {nil, picture.Limits{}, picture.ErrFormat},
		"a JPEG":        {[]byte("\xff\xd8\xff\xe0"), picture.Limits{}, picture.ErrFormat},
		"too large":     {gif, picture.Limits{MaxPixels: 800}, picture.ErrSize},
		"a cut head":    {gif[:9], picture.Limits{}, picture.ErrDamaged},
		"a cut WebP":    {webp[:20], picture.Limits{}, picture.ErrDamaged},
		"frame outside": {patched(apng, "fcTL", 4+7, 200), picture.Limits{}, picture.ErrDamaged},
	} {
		if _, err := picture.OpenAnimation(c.data, c.limits); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	a, err := picture.OpenAnimation(webp, picture.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	none := func(int, *picture.RGB) error { return nil }
	if err := a.Each(ctx, []int{1}, none); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	a, err = picture.OpenAnimation(patched(apng, "IDAT", 20, 0xff), picture.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Each(context.Background(), []int{4}, none); !errors.Is(err, picture.ErrDamaged) {
		t.Errorf("broken data: %v", err)
	}
}

// patched changes a byte behind the first occurrence of a word.
func patched(data []byte, word string, behind int, value byte) []byte {
	data = bytes.Clone(data)
	data[bytes.Index(data, []byte(word))+behind] = value
	return data
}

// FuzzAnimation: whatever a file says, its frames are there or there is an error.
func FuzzAnimation(f *testing.F) {
	for _, name := range []string{"disposal3.gif", "lossy.webp", "disposal21.png", "palette.png"} {
		f.Add(readFile(f, "testdata", "animations", name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := picture.OpenAnimation(data, picture.Limits{MaxPixels: 1 << 16})
		if err != nil {
			return
		}
		_ = a.Each(context.Background(), []int{0, 3}, func(_ int, m *picture.RGB) error {
			if len(m.Pix) != 3*a.Width*a.Height {
				t.Errorf("%d bytes for %d × %d", len(m.Pix), a.Width, a.Height)
			}
			return nil
		})
	})
}
