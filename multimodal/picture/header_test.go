//go:build !js

package picture_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// What the header tells without decoding is what decoding finds, up to a turn.
func TestCheckHeader(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, ".py") || strings.HasSuffix(name, ".json") || filepath.Ext(name) == "" {
			continue
		}
		data := readFile(t, name)
		m, err := picture.Decode(t.Context(), data, picture.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		area, side := m.Width*m.Height, max(m.Width, m.Height)
		if err := picture.CheckHeader(data, picture.Limits{MaxPixels: area, MaxSide: side}); err != nil {
			t.Errorf("%s, %d × %d: %v", name, m.Width, m.Height, err)
		}
		for _, limits := range []picture.Limits{{MaxPixels: area - 1}, {MaxSide: side - 1}} {
			if limits == (picture.Limits{}) { // of one pixel
				continue
			}
			if err := picture.CheckHeader(data, limits); !errors.Is(err, picture.ErrSize) {
				t.Errorf("%s, %d × %d under %+v: %v", name, m.Width, m.Height, limits, err)
			}
		}
	}
}

func TestCheckHeaderHostile(t *testing.T) {
	for _, c := range hostile(t) {
		err := picture.CheckHeader(c.data, picture.Limits{})
		if wrong := errors.Is(c.want, picture.ErrSize); wrong != errors.Is(err, picture.ErrSize) &&
			c.name != "PNG of 0 × 0" && c.name != "the largest PNG" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for name := range trailer { // every beginning of a file passes or is refused, and nothing else
		files, _ := filepath.Glob("testdata/*" + name)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for n := range min(len(data), 200) {
				if err := picture.CheckHeader(data[:n], picture.Limits{}); err != nil {
					t.Errorf("%s cut to %d bytes: %v", file, n, err)
				}
			}
		}
	}
}
