package picture_test

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// levels is by how much a format's pixels may differ from Pillow's: where the
// decoding of a format is not laid down to the bit (the inverse cosine transform
// of JPEG) a level or two, elsewhere nothing.
var levels = map[string]int{
	".jpg": 2,
}

// browsersDiffer names what Chromium decodes otherwise: black around a GIF's frame
// that is smaller than its screen, and a WebP as it lies, without a look at its EXIF.
var browsersDiffer = map[string]bool{"inside.gif": true, "turned6.webp": true}

// Files of every format, and what Pillow makes of them (see testdata/make.py).
func TestDecodeAsPillow(t *testing.T) {
	wants, err := filepath.Glob("testdata/*.want.png")
	if err != nil || len(wants) == 0 {
		t.Fatal("no references", err)
	}
	for _, path := range wants {
		name := strings.TrimSuffix(filepath.Base(path), ".want.png")
		dash := strings.LastIndexByte(name, '-')
		name = name[:dash] + "." + name[dash+1:]
		if runtime.GOOS == "js" && browsersDiffer[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			got, err := picture.Decode(t.Context(), readFile(t, "testdata", name), picture.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, readWant(t, path), levels[filepath.Ext(name)])
		})
	}
}

func readWant(t testing.TB, path string) *image.NRGBA {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(readFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	want := image.NewNRGBA(m.Bounds())
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			want.Set(x, y, m.At(x, y))
		}
	}
	return want
}

func compare(t *testing.T, got *picture.RGB, want *image.NRGBA, levels int) {
	t.Helper()
	if size := want.Bounds().Size(); got.Width != size.X || got.Height != size.Y {
		t.Fatalf("%d × %d, want %v", got.Width, got.Height, size)
	}
	worst, off := 0, 0
	for i := range got.Width * got.Height {
		for c := range 3 {
			d := int(got.Pix[3*i+c]) - int(want.Pix[4*i+c])
			worst = max(worst, d, -d)
			if d != 0 {
				off++
			}
		}
	}
	t.Logf("%d of %d values differ, by %d at most", off, len(got.Pix), worst)
	if worst > levels {
		t.Errorf("differs by up to %d, may by %d", worst, levels)
	}
}
