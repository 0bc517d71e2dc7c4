package picture_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"testing"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// Images of several strips, and longer than a texture can be.
func TestLargeBitmaps(t *testing.T) {
	for _, size := range []image.Point{{2000, 1501}, {20_000, 3}, {3, 20_000}} {
		want := noise(size.X, size.Y)
		nrgba := image.NewNRGBA(image.Rectangle{Max: size})
		for i := range size.X * size.Y {
			copy(nrgba.Pix[4*i:], want.Pix[3*i:3*i+3])
			nrgba.Pix[4*i+3] = 255
		}
		var file bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.NoCompression}
		if err := encoder.Encode(&file, nrgba); err != nil {
			t.Fatal(err)
		}
		got, err := picture.Decode(t.Context(), file.Bytes(), picture.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Width != want.Width || got.Height != want.Height || !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%v: %d × %d, pixels differ", size, got.Width, got.Height)
		}
	}
}

func TestBrowserRefuses(t *testing.T) {
	whole := readFile(t, "testdata", "palette.png")
	cause := errors.New("the user changed their mind")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for _, c := range []struct {
		name string
		ctx  context.Context
		data []byte
		want error
	}{
		{"no bytes", t.Context(), nil, picture.ErrFormat},
		{"text", t.Context(), []byte("hello, world"), picture.ErrFormat},
		{"a header alone", t.Context(), whole[:50], picture.ErrDamaged},
		{"PNG cut off", t.Context(), half(t, "palette.png"), picture.ErrDamaged},
		{"JPEG cut off", t.Context(), half(t, "chroma420.jpg"), picture.ErrDamaged},
		{"progressive JPEG cut off", t.Context(), half(t, "progressive.jpg"), picture.ErrDamaged},
		{"WebP cut off", t.Context(), half(t, "lossy.webp"), picture.ErrDamaged},
		{"GIF cut off", t.Context(), half(t, "palette.gif"), picture.ErrDamaged},
		{"BMP cut off", t.Context(), half(t, "plain.bmp"), picture.ErrDamaged},
		{"cancelled", cancelled, whole, cause},
	} {
		m, err := picture.Decode(c.ctx, c.data, picture.Limits{})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, error %v, want %v", c.name, m != nil, err, c.want)
		}
	}
	if _, err := picture.Decode(t.Context(), whole, picture.Limits{MaxSide: 44}); !errors.Is(err, picture.ErrSize) {
		t.Error(err)
	}
}

func half(t *testing.T, name string) []byte {
	t.Helper()
	data := readFile(t, "testdata", name)
	return data[:len(data)/2]
}
