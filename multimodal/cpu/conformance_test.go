package cpu

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/picture"
)

func openTowers(t testing.TB, path string) *arch.Towers {
	t.Helper()
	file, err := gguf.OpenPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	towers, err := arch.Open(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	return towers
}

func newVision(t testing.TB, towers *arch.Towers, options Options) *Vision {
	t.Helper()
	a, err := towers.NeedVision()
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVision(context.Background(), a, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

func newAudio(t testing.TB, towers *arch.Towers, options Options) *Audio {
	t.Helper()
	a, err := towers.NeedAudio()
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewAudio(context.Background(), a, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// references are the arrays that the reference made of a model.
type references struct{ file *safetensors.File }

func openReferences(t testing.TB, path string) references {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Read(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return references{file}
}

// openInputs are the pixels and mel frames, the same ones for all models.
func openInputs(t testing.TB) references {
	t.Helper()
	return openReferences(t, conformance.Path(t, "e2b.safetensors"))
}

func (r references) floats(t testing.TB, name string) []float32 {
	t.Helper()
	values, err := r.file.Floats(name)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// relativeL2 is ‖got − want‖ / ‖want‖.
func relativeL2(t testing.TB, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, wanted %d", len(got), len(want))
	}
	var difference, size float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		difference += d * d
		size += float64(w) * float64(w)
	}
	return math.Sqrt(difference / size)
}

// softTolerance is a tenth of what is asked of a soft token's relative error.
const softTolerance = 1e-5

func checkSoft(t *testing.T, name string, soft []float32, err error, refs references) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	e := relativeL2(t, soft, refs.floats(t, name+".soft"))
	if !(e <= softTolerance) {
		t.Errorf("%s: soft tokens are %.2g off", name, e)
	}
	t.Logf("%s: soft tokens are %.2g off", name, e)
}

// picturePatches brings an image of the cases into the size for a budget.
func picturePatches(t *testing.T, a *arch.Vision, name string, budget int) (patches []float32, columns, rows int) {
	t.Helper()
	data, err := os.ReadFile(conformance.Path(t, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	rgb, err := picture.Decode(context.Background(), data, picture.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w, h, err := picture.Fit(rgb.Width, rgb.Height,
		picture.Grid{Patch: a.PatchSize, Pool: a.Pool, Budget: budget, MaxSide: a.MaxSide})
	if err != nil {
		t.Fatal(err)
	}
	return picture.Patches(rgb.Resize(w, h), a.PatchSize), w / a.PatchSize, h / a.PatchSize
}

func TestImages(t *testing.T) {
	for _, name := range []string{"e2b", "types", "dense", "moe"} {
		t.Run(name, func(t *testing.T) {
			v := newVision(t, openTowers(t, conformance.Path(t, name+".gguf")), Options{})
			refs := openReferences(t, conformance.Path(t, name+".safetensors"))
			soft, err := v.Encode(context.Background(), openInputs(t).floats(t, "wide.pixels"), 33, 18)
			checkSoft(t, "wide", soft, err, refs)
			for image, budget := range map[string]int{"tall": 280, "tiny": 70, "photo": 70} {
				patches, columns, rows := picturePatches(t, v.config, image, budget)
				soft, err := v.Encode(context.Background(), patches, columns, rows)
				checkSoft(t, image, soft, err, refs)
			}
		})
	}
}

func TestClips(t *testing.T) {
	for _, name := range []string{"e2b", "types"} {
		t.Run(name, func(t *testing.T) {
			a := newAudio(t, openTowers(t, conformance.Path(t, name+".gguf")), Options{})
			refs := openReferences(t, conformance.Path(t, name+".safetensors"))
			for clip, valid := range map[string]int{"short": 99, "long": 522, "edge": 100} {
				mel := openInputs(t).floats(t, clip+".mel")
				soft, err := a.Encode(context.Background(), mel, len(mel)/arch.MelBins, valid)
				checkSoft(t, clip, soft, err, refs)
			}
		})
	}
}
