package gpu

import (
	"context"
	"os"
	"testing"

	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/sound"
)

func unified(t *testing.T) (*arch.Towers, *safetensors.File) {
	t.Helper()
	return openTowers(t, conformance.Path(t, "unified-mmproj.gguf")), openArrays(t, "unified")
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(conformance.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func want(t *testing.T, file *safetensors.File, name string) []float32 {
	t.Helper()
	values, err := file.Floats(name)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestUnifiedImages(t *testing.T) {
	towers, refs := unified(t)
	for form, kit := range kits(t) {
		t.Run(form, func(t *testing.T) {
			p, err := NewPatches(context.Background(), kit, towers.Patches, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			// The larger one first: then its buffers are used for less than they hold.
			for _, image := range []struct {
				name   string
				budget int
			}{{"tall", 280}, {"wide", 70}, {"tiny", 70}, {"photo", 140}} {
				rgb, err := picture.Decode(context.Background(), read(t, image.name+".png"), picture.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				side := towers.Patches.Side
				w, h, err := picture.Fit(rgb.Width, rgb.Height, picture.Grid{Patch: side, Pool: 1, Budget: image.budget})
				if err != nil {
					t.Fatal(err)
				}
				soft, err := p.Encode(context.Background(), picture.Patches(rgb.ResizeLikeTorch(w, h), side), w/side, h/side)
				if err != nil {
					t.Fatal(err)
				}
				checkUnified(t, image.name, soft, want(t, refs, image.name+".soft"))
			}
		})
	}
}

// checkUnified holds what has no attention, and so nothing in float16 but weights, to less
// than checkSoft.
func checkUnified(t *testing.T, name string, got, want []float32) {
	t.Helper()
	const tolerance = 1e-4
	e := relativeL2(t, got, want)
	t.Logf("%s: soft tokens are %.2g off", name, e)
	if !(e <= tolerance) {
		t.Errorf("%s: soft tokens are %.2g off, at most %.2g is right", name, e, tolerance)
	}
}

func TestUnifiedClips(t *testing.T) {
	towers, refs := unified(t)
	for form, kit := range kits(t) {
		t.Run(form, func(t *testing.T) {
			f, err := NewFrames(context.Background(), kit, towers.Frames, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for _, name := range []string{"edge", "short"} {
				samples, err := sound.Decode(context.Background(), read(t, name+".wav"), sound.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				frames, valid, err := sound.Frames(samples.Data, towers.Frames.Samples)
				if err != nil {
					t.Fatal(err)
				}
				soft, err := f.Encode(context.Background(), frames, valid, valid)
				if err != nil {
					t.Fatal(err)
				}
				checkUnified(t, name, soft, want(t, refs, name+".soft"))
			}
		})
	}
}
