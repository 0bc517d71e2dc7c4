package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/quant"
)

// matrixOf makes a matrix of values in rows of cols.
func matrixOf(t *testing.T, values []float32, cols int) cpu.Matrix {
	t.Helper()
	f := newForm()
	f.addFloats("w", values, uint64(cols), uint64(len(values)/cols))
	tensor, _ := f.open(t).Tensor("w")
	return cpu.NewMatrix(tensor, 0)
}

// form is a file in another form: keys and tensors of any name.
type form struct {
	keys    []string
	values  []any
	tensors []gguf.TensorInfo
	data    [][]byte
}

func newForm() *form { return &form{} }

func (f *form) add(info gguf.TensorInfo, data []byte) {
	f.tensors, f.data = append(f.tensors, info), append(f.data, data)
}

func (f *form) addFloats(name string, values []float32, dims ...uint64) {
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	f.add(gguf.TensorInfo{Name: name, Type: quant.F32, Dims: dims}, data)
}

func (f *form) set(key string, value any) {
	f.keys, f.values = append(f.keys, key), append(f.values, value)
}

func (f *form) open(t *testing.T) *gguf.File {
	t.Helper()
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, key := range f.keys {
		check(w.Set(key, f.values[i]))
	}
	for _, info := range f.tensors {
		check(w.Add(info))
	}
	for i, info := range f.tensors {
		check(w.WriteTensor(info.Name, f.data[i]))
	}
	check(w.Close())
	file, err := gguf.Open(context.Background(), gguf.Memory(out.Bytes()))
	check(err)
	return file
}

// towersOf copies the towers of a file, with other names for tensors; the name ""
// leaves one away.
func towersOf(t *testing.T, path, prefix string, rename func(string) string) *form {
	t.Helper()
	file, err := gguf.OpenPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f := newForm()
	for _, key := range []string{"block_count", "embedding_length", "attention.head_count", "feed_forward_length"} {
		for _, tower := range []string{"vision.", "audio."} {
			value, err := file.Meta.Uint32("gemma4." + tower + key)
			if err != nil {
				t.Fatal(err)
			}
			f.set(prefix+tower+key, value)
		}
	}
	for _, tensor := range file.Tensors {
		name := rename(tensor.Name)
		if name == "" || !strings.HasPrefix(name, "v.") && !strings.HasPrefix(name, "a.") &&
			!strings.HasPrefix(name, "mm.") {
			continue
		}
		data := make([]byte, tensor.Size)
		if _, err := tensor.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		f.add(gguf.TensorInfo{Name: name, Type: tensor.Type, Dims: tensor.Dims}, data)
	}
	return f
}

// softTokens encodes an image and a clip with the towers of a file.
func softTokens(t *testing.T, file *gguf.File) [2][]float32 {
	t.Helper()
	towers, err := arch.Open(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	v, a := newVision(t, towers, Options{}), newAudio(t, towers, Options{})
	image, err := v.Encode(context.Background(), pixels(v, 6, 9), 6, 9)
	if err != nil {
		t.Fatal(err)
	}
	clip, err := a.Encode(context.Background(), frames(60), 60, 60)
	if err != nil {
		t.Fatal(err)
	}
	return [2][]float32{image, clip}
}

func same(t *testing.T, what string, got, want [2][]float32) {
	t.Helper()
	if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
		t.Errorf("%s: other soft tokens", what)
	}
}

func asItIs(name string) string { return name }

// The same weights under llama.cpp's names give the same soft tokens.
func TestLlamaNames(t *testing.T) {
	path := conformance.Path(t, "e2b.gguf")
	names := strings.NewReplacer(".ln1.", ".attn_pre_norm.", ".ln2.", ".attn_post_norm.", ".layer_pre_norm.", ".ln2.",
		".linear_pos.", ".attn_k_rel.",
		"a.pre_encode.out.", "a.input_projection.", "mm.a.fc.", "a.pre_encode.out.")
	renamed := towersOf(t, path, "clip.", func(name string) string {
		if strings.HasPrefix(name, "v.") {
			return name
		}
		return names.Replace(name)
	})
	same(t, "llama.cpp's names", softTokens(t, renamed.open(t)),
		softTokens(t, towersOf(t, path, "gemma4.", asItIs).open(t)))
}

// Bounds packed in one tensor do what bounds beside each linear do.
func TestPackedBounds(t *testing.T) {
	path := conformance.Path(t, "types.gguf")
	file, err := gguf.OpenPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var values []float32
	for i := range 2 {
		for _, linear := range []string{"attn_q", "attn_k", "attn_v", "attn_out", "ffn_gate", "ffn_up", "ffn_down"} {
			for _, bound := range []string{"input_min", "input_max", "output_min", "output_max"} {
				tensor, ok := file.Tensor(fmt.Sprintf("v.blk.%d.%s.%s", i, linear, bound))
				if !ok {
					t.Fatalf("no bound of %s", linear)
				}
				var value [1]float32
				if err := tensor.ReadRows(value[:], 0, 1); err != nil {
					t.Fatal(err)
				}
				values = append(values, value[0])
			}
		}
	}
	unbound := towersOf(t, path, "gemma4.", func(name string) string {
		if strings.HasPrefix(name, "v.") && (strings.HasSuffix(name, "_min") || strings.HasSuffix(name, "_max")) {
			return ""
		}
		return name
	})
	with := softTokens(t, towersOf(t, path, "gemma4.", asItIs).open(t))
	if without := softTokens(t, unbound.open(t)); slices.Equal(without[0], with[0]) {
		t.Error("the bounds are not felt")
	}
	values = append(values, 0, 0, 0, 0) // the projection has none
	unbound.addFloats("v.clamp_data", values, uint64(len(values)))
	same(t, "packed bounds", softTokens(t, unbound.open(t)), with)
}

// Weights of a file that ends early are an error that names one of them.
func TestUnreadableWeights(t *testing.T) {
	path := conformance.Path(t, "e2b.gguf")
	broken := towersOf(t, path, "gemma4.", asItIs).open(t)
	towers, err := arch.Open(broken, 0)
	if err != nil {
		t.Fatal(err)
	}
	v, a := newVision(t, towers, Options{}), newAudio(t, towers, Options{})
	for _, tensor := range []*gguf.Tensor{towers.Vision.Layers[1].Up.Weight, towers.Audio.Layers[1].ConvIn.Weight} {
		tensor.Offset = 1 << 40
	}
	_, err = v.Encode(context.Background(), pixels(v, 6, 9), 6, 9)
	if err == nil || !strings.Contains(err.Error(), "block 1") ||
		!strings.Contains(err.Error(), "v.blk.1.ffn_up.weight") {
		t.Errorf("image: %v", err)
	}
	_, err = a.Encode(context.Background(), frames(60), 60, 60)
	if err == nil || !strings.Contains(err.Error(), "block 1") ||
		!strings.Contains(err.Error(), "a.blk.1.conv_pw1.weight") {
		t.Errorf("clip: %v", err)
	}
	towers.Vision.Layers[0].AttnNorm.Offset = 1 << 40
	if _, err := NewVision(context.Background(), towers.Vision, Options{}); err == nil ||
		!strings.Contains(err.Error(), "v.blk.0.ln1.weight") {
		t.Errorf("loading: %v", err)
	}
}
