//go:build !js

package picture_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// FuzzDecode: whatever the bytes, an image that is as large as it says and within
// the limits, or an error that a caller can act on, in bounded memory.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, c := range hostile(f) {
		f.Add(c.data)
	}
	limits := picture.Limits{MaxPixels: 1 << 20, MaxSide: 4096}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := picture.Decode(t.Context(), data, limits)
		if err != nil {
			if !errors.Is(err, picture.ErrFormat) && !errors.Is(err, picture.ErrDamaged) &&
				!errors.Is(err, picture.ErrSize) {
				t.Fatalf("an error without a sentinel: %v", err)
			}
			return
		}
		if m.Width <= 0 || m.Height <= 0 || m.Width*m.Height > limits.MaxPixels || len(m.Pix) != 3*m.Width*m.Height {
			t.Fatalf("%d × %d, %d bytes", m.Width, m.Height, len(m.Pix))
		}
	})
}

// FuzzResize: any size of an image becomes a size that a tower takes, and pixels
// of one colour stay so.
func FuzzResize(f *testing.F) {
	f.Add(uint16(320), uint16(240), uint16(70), uint8(200))
	f.Add(uint16(1), uint16(500), uint16(70), uint8(255))
	f.Add(uint16(500), uint16(1), uint16(149), uint8(0))
	f.Fuzz(func(t *testing.T, width, height, budget uint16, value uint8) {
		width, height, budget = width%512, height%512, budget%150
		g := picture.Grid{Patch: 16, Pool: 3, Budget: int(budget), MaxSide: 10240}
		w, h, err := picture.Fit(int(width), int(height), g)
		if err != nil {
			return
		}
		checkFit(t, w, h, g)
		m := &picture.RGB{Width: int(width), Height: int(height), Pix: make([]uint8, 3*int(width)*int(height))}
		fill(m.Pix, value)
		m = m.Resize(w, h)
		if patches := picture.Patches(m, g.Patch); len(patches) != 3*w*h {
			t.Fatalf("%d values for %d × %d", len(patches), w, h)
		}
		for i, v := range m.Pix {
			if v != value {
				t.Fatalf("value %d is %d, not %d", i, v, value)
			}
		}
	})
}
