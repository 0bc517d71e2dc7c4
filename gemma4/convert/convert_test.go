package convert

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// kept is what expected.json says of a tensor.
type kept struct {
	Shape  []uint64 `json:"shape"`
	SHA256 string   `json:"sha256"`
}

func openFolder(t *testing.T, path string) *Folder {
	t.Helper()
	f, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// written opens both files of a folder; the second is nil where there are no towers.
func written(t *testing.T, f *Folder, as quant.Type) (text, towers *gguf.File) {
	t.Helper()
	ctx := context.Background()
	var b, p bytes.Buffer
	if err := f.Text(ctx, &b, Options{Type: as}); err != nil {
		t.Fatal(err)
	}
	text, err := gguf.Open(ctx, gguf.Memory(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !f.HasTowers() {
		return text, nil
	}
	if err := f.Projector(ctx, &p, Options{Type: as}); err != nil {
		t.Fatal(err)
	}
	towers, err = gguf.Open(ctx, gguf.Memory(p.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return text, towers
}

func digest(t *testing.T, x *gguf.Tensor) string {
	t.Helper()
	values := make([]float32, x.Elements())
	if err := x.ReadRows(values, 0, x.Rows()); err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 4*len(values))
	if err := quant.F32.Quantize(raw, values); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Every tensor of transformers' checkpoints is in one of the two files, under its name, in its shape, with its values.
func TestTensors(t *testing.T) {
	for _, name := range []string{"small", "experts", "unified", "embedding"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
			expected := map[string]kept{}
			if err := readJSON(filepath.Join(path, "expected.json"), &expected); err != nil {
				t.Fatal(err)
			}
			text, towers := written(t, openFolder(t, path), quant.F32)
			all := slices.Clone(text.Tensors)
			if towers != nil {
				all = append(all, towers.Tensors...)
			}
			for _, x := range all {
				want, ok := expected[x.Name]
				if !ok {
					t.Errorf("%s should not be there", x.Name)
					continue
				}
				delete(expected, x.Name)
				dims := slices.Clone(want.Shape)
				slices.Reverse(dims)
				if !slices.Equal(x.Dims, dims) {
					t.Errorf("%s is %v, wanted %v", x.Name, x.Dims, dims)
				}
				if x.Name == "a.blk.0.per_dim_scale.weight" { // of a logarithm, whose last bit may differ
					continue
				}
				if digest(t, x) != want.SHA256 {
					t.Errorf("%s has other values", x.Name)
				}
			}
			for missing := range expected {
				t.Errorf("%s is missing", missing)
			}
		})
	}
}

// The files are models that open, with a tokenizer.
func TestOpens(t *testing.T) {
	for _, name := range []string{"small", "experts", "unified"} {
		for _, as := range []quant.Type{quant.F16, quant.BF16, quant.Q8_0} {
			text, _ := written(t, openFolder(t, filepath.Join("testdata", name)), as)
			m, err := arch.Open(text)
			if err != nil {
				t.Fatalf("%s as %v: %v", name, as, err)
			}
			if q := m.Layers[0].Q; q.Type != as {
				t.Errorf("%s as %v: the query is %v", name, as, q.Type)
			}
			if m.Config.IsSliding(1) || m.Config.HeadDim(1) != 32 || m.Config.HeadDim(0) != 16 {
				t.Errorf("%s: layer 1 slides: %t, heads of %d and %d", name, m.Config.IsSliding(1), m.Config.HeadDim(0),
					m.Config.HeadDim(1))
			}
			if name == "small" && m.Config.FeedForward(3) != 2*m.Config.FeedForward(0) {
				t.Errorf("feed-forwards of %d and %d", m.Config.FeedForward(0), m.Config.FeedForward(3))
			}
			tok, err := tokenizer.FromGGUF(text.Meta)
			if err != nil {
				t.Fatal(err)
			}
			if got := tok.Encode("abc a"); len(got) != 2 || tok.TokenText(got[0]) != "abc" {
				t.Errorf("%s: abc a is %v", name, got)
			}
		}
	}
}

func TestSoftplus(t *testing.T) {
	f := openFolder(t, filepath.Join("testdata", "small"))
	_, towers := written(t, f, quant.F32)
	x, _ := towers.Tensor("a.blk.0.per_dim_scale.weight")
	got := make([]float32, x.Elements())
	if err := x.ReadRows(got, 0, 1); err != nil {
		t.Fatal(err)
	}
	source, err := f.Tensors["model.audio_tower.layers.0.self_attn.per_dim_scale"].Floats()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range source {
		if want := math.Log(1 + math.Exp(float64(v))); math.Abs(float64(got[i])-want) > 1e-6*want {
			t.Errorf("softplus(%v) is %v, wanted %v", v, got[i], want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for config, want := range map[string]error{
		`{"architectures":["LlamaForCausalLM"]}`:                        ErrConfig,
		`{"architectures":["Gemma4ForCausalLM"],"num_hidden_layers":2}`: ErrConfig,
		`{`: ErrConfig,
	} {
		folder := t.TempDir()
		for _, name := range []string{"model.safetensors", "tokenizer.json"} {
			b, err := os.ReadFile(filepath.Join("testdata", "experts", name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := OpenFolder(folder)
		if err == nil {
			err = f.Text(context.Background(), &bytes.Buffer{}, Options{Type: quant.F16})
			_ = f.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", config, err)
		}
	}
	index, err := json.Marshal(map[string]any{"weight_map": map[string]string{"a": "../../etc/passwd"}})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, b := range map[string][]byte{"config.json": []byte("{}"), "model.safetensors.index.json": index} {
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenFolder(folder); !errors.Is(err, ErrTensor) {
		t.Errorf("an index that leaves the folder: %v", err)
	}
	if _, ok := targetOf("model.language_model.layers.0.self_attn.new_thing.weight"); ok {
		t.Error("an unknown tensor has a place")
	}
}
