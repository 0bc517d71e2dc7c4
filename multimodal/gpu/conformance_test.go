package gpu

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// softTolerance is what is asked of soft tokens of a GPU with keys in f16.
const softTolerance = 2e-3

// kits opens the device once for each set of sizes that kinds of device get.
func kits(t *testing.T) map[string]*ops.Kit {
	t.Helper()
	return kitsOf(t, wgslkit.Options{})
}

func kitsOf(t *testing.T, opts wgslkit.Options) map[string]*ops.Kit {
	t.Helper()
	device, err := wgslkit.Open(opts)
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := device.Close(); err != nil {
			t.Error(err)
		}
	})
	f := device.Features()
	kits := map[string]*ops.Kit{
		"as here":         ops.New(device),
		"many cores":      ops.NewTuned(device, ops.TuningFor(wgslkit.DiscreteGPU, f)),
		"slow to compile": ops.NewTuned(device, ops.TuningFor(wgslkit.CPU, f).ForSlowCompiler()),
	}
	if tuning := ops.TuningOf(device, wgslkit.DiscreteGPU); tuning.Matrices.Size > 0 {
		kits["on matrices"] = ops.NewTuned(device, tuning)
	}
	return kits
}

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

// cases are what the reference made of a model's media.
type cases struct {
	file   *safetensors.File
	inputs *safetensors.File // has the pixels and mel frames, the same ones for all models
	list   struct {
		Images []struct {
			File    string
			Patches [2]int // columns, rows
		}
		Clips []struct {
			File   string
			Frames int // valid ones
		}
	}
}

func openCases(t testing.TB, model string) cases {
	t.Helper()
	c := cases{file: openArrays(t, model), inputs: openArrays(t, "e2b")}
	raw, err := os.ReadFile(conformance.Path(t, model+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &c.list); err != nil {
		t.Fatal(err)
	}
	return c
}

func openArrays(t testing.TB, model string) *safetensors.File {
	t.Helper()
	f, err := os.Open(conformance.Path(t, model+".safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := safetensors.Read(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return arrays
}

// prepared says whether the reference kept what goes into a tower.
func (c cases) prepared(name string) bool {
	_, ok := c.inputs.Tensor(name)
	return ok
}

func (c cases) input(t testing.TB, name string) []float32 {
	t.Helper()
	values, err := c.inputs.Floats(name)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func (c cases) floats(t testing.TB, name string) []float32 {
	t.Helper()
	values, err := c.file.Floats(name)
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

func TestImages(t *testing.T) {
	kits := kits(t)
	for _, model := range conformance.Some(1, "e2b", "types", "dense", "moe") {
		t.Run(model, func(t *testing.T) {
			tower, err := openTowers(t, conformance.Path(t, model+".gguf")).NeedVision()
			if err != nil {
				t.Fatal(err)
			}
			cases := openCases(t, model)
			for form, kit := range kits {
				t.Run(form, func(t *testing.T) {
					v, err := NewVision(context.Background(), kit, tower, Options{})
					if err != nil {
						t.Fatal(err)
					}
					defer v.Close()
					for _, image := range cases.list.Images {
						name := strings.TrimSuffix(image.File, ".png")
						if !cases.prepared(name + ".pixels") {
							continue
						}
						soft, err := v.Encode(context.Background(), cases.input(t, name+".pixels"), image.Patches[0],
							image.Patches[1])
						if err != nil {
							t.Fatal(err)
						}
						checkSoft(t, name, soft, cases.floats(t, name+".soft"))
					}
				})
			}
		})
	}
}

func checkSoft(t *testing.T, name string, got, want []float32) {
	t.Helper()
	e := relativeL2(t, got, want)
	t.Logf("%s: soft tokens are %.2g off", name, e)
	if !(e <= softTolerance) {
		t.Errorf("%s: soft tokens are %.2g off, at most %.2g is right", name, e, softTolerance)
	}
}

func TestClips(t *testing.T) {
	kits := kits(t)
	for _, model := range conformance.Some(1, "e2b", "types") {
		t.Run(model, func(t *testing.T) {
			tower, err := openTowers(t, conformance.Path(t, model+".gguf")).NeedAudio()
			if err != nil {
				t.Fatal(err)
			}
			cases := openCases(t, model)
			for form, kit := range kits {
				t.Run(form, func(t *testing.T) {
					a, err := NewAudio(context.Background(), kit, tower, Options{})
					if err != nil {
						t.Fatal(err)
					}
					defer a.Close()
					for _, clip := range cases.list.Clips {
						name := strings.TrimSuffix(clip.File, ".wav")
						mel := cases.input(t, name+".mel")
						soft, err := a.Encode(context.Background(), mel, len(mel)/arch.MelBins, clip.Frames)
						if err != nil {
							t.Fatal(err)
						}
						checkSoft(t, name, soft, cases.floats(t, name+".soft"))
					}
				})
			}
		})
	}
}
