package cpu

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/sound"
)

const unifiedProjector = "unified-mmproj.gguf"

// squares are those of an image of the cases, with the budget that their reference has.
func squares(t *testing.T, side int, name string, budget int) (values []float32, columns, rows int) {
	t.Helper()
	data, err := os.ReadFile(conformance.Path(t, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	rgb, err := picture.Decode(context.Background(), data, picture.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w, h, err := picture.Fit(rgb.Width, rgb.Height, picture.Grid{Patch: side, Pool: 1, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return picture.Patches(rgb.ResizeLikeTorch(w, h), side), w / side, h / side
}

func TestUnifiedImages(t *testing.T) {
	p := newPatches(t, openTowers(t, conformance.Path(t, unifiedProjector)))
	refs := openReferences(t, conformance.Path(t, "unified.safetensors"))
	for name, budget := range map[string]int{"wide": 70, "tall": 280, "tiny": 70, "photo": 140} {
		values, columns, rows := squares(t, p.config.Side, name, budget)
		soft, err := p.Encode(context.Background(), values, columns, rows)
		checkSoft(t, name, soft, err, refs)
	}
}

func newPatches(t *testing.T, towers *arch.Towers) *Patches {
	t.Helper()
	p, err := NewPatches(context.Background(), towers.Patches, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestUnifiedClips(t *testing.T) {
	towers := openTowers(t, conformance.Path(t, unifiedProjector))
	f, err := NewFrames(context.Background(), towers.Frames, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	refs := openReferences(t, conformance.Path(t, "unified.safetensors"))
	for _, name := range []string{"short", "edge"} {
		data, err := os.ReadFile(conformance.Path(t, name+".wav"))
		if err != nil {
			t.Fatal(err)
		}
		samples, err := sound.Decode(context.Background(), data, sound.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		frames, valid, err := sound.Frames(samples.Data, f.config.Samples)
		if err != nil {
			t.Fatal(err)
		}
		soft, err := f.Encode(context.Background(), frames, valid, valid)
		checkSoft(t, name, soft, err, refs)
	}
}

// Some files hold the product of squares as the convolution that it is.
func TestUnifiedConvolution(t *testing.T) {
	matrix := openTowers(t, conformance.Path(t, unifiedProjector))
	convolution := openTowersOf(t, withConvolution(t, conformance.Path(t, unifiedProjector)))
	if dims := convolution.Patches.PatchEmbd.Weight.Dims; len(dims) != 4 {
		t.Fatalf("dims %v", dims)
	}
	values, columns, rows := squares(t, matrix.Patches.Side, "tiny", 70)
	soft, err := newPatches(t, convolution).Encode(context.Background(), values, columns, rows)
	checkSoft(t, "tiny", soft, err, openReferences(t, conformance.Path(t, "unified.safetensors")))
}

func openTowersOf(t *testing.T, data []byte) *arch.Towers {
	t.Helper()
	file, err := gguf.Open(context.Background(), gguf.Memory(data))
	if err != nil {
		t.Fatal(err)
	}
	towers, err := arch.Open(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	return towers
}

// withConvolution is a projector whose v.patch_embd has four dimensions.
func withConvolution(t *testing.T, path string) []byte {
	t.Helper()
	file, err := gguf.OpenPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := new(bytes.Buffer)
	w := gguf.NewWriter(out)
	if err := w.SetAll(file.Meta); err != nil {
		t.Fatal(err)
	}
	for _, tensor := range file.Tensors {
		info := gguf.TensorInfo{Name: tensor.Name, Type: tensor.Type, Dims: tensor.Dims}
		if info.Name == "v.patch_embd.weight" {
			info.Dims = []uint64{48, 48, 3, info.Dims[1]}
		}
		if err := w.Add(info); err != nil {
			t.Fatal(err)
		}
	}
	for _, tensor := range file.Tensors {
		data := make([]byte, tensor.Size)
		if _, err := tensor.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteTensor(tensor.Name, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
