package adapter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func random(ranks ...int) *adapter.Adapter {
	r := rand.New(rand.NewPCG(1, 1))
	a := &adapter.Adapter{Pairs: map[adapter.Target]*adapter.Pair{}, Base: "google/gemma-4-e2b-it"}
	for i, rank := range ranks {
		for _, l := range []adapter.Linear{adapter.Q, adapter.Down} {
			p := &adapter.Pair{Rank: rank, In: 12, Out: 20, Scale: 2}
			p.A, p.B = normal(r, rank*p.In), normal(r, p.Out*rank)
			a.Pairs[adapter.Target{Layer: i, Linear: l}] = p
		}
	}
	return a
}

// What is written is read again, in both forms.
func TestSaveAndOpen(t *testing.T) {
	odd := random(4, 8)
	odd.Pairs[adapter.Target{Layer: 1, Linear: adapter.Q}].Scale = 0.5
	for name, a := range map[string]*adapter.Adapter{"uniform": random(4, 4, 4), "different ranks and scales": odd} {
		for _, file := range []string{"adapter", "adapter.gguf"} {
			path := filepath.Join(t.TempDir(), file)
			if err := a.Save(path); err != nil {
				t.Fatal(err)
			}
			if err := a.Save(path); err != nil {
				t.Fatalf("over what is there: %v", err)
			}
			got, err := adapter.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(products(a), products(got), cmpopts.EquateApprox(1e-6, 0)); diff != "" ||
				got.Base != a.Base {
				t.Errorf("%s, %s, on %q: %s", name, file, got.Base, diff)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}

// products is scale·B·A of each pair: the forms differ in where the scale stands.
func products(a *adapter.Adapter) map[string][]float64 {
	all := map[string][]float64{}
	for t, p := range a.Pairs {
		var w []float64
		for o := range p.Out {
			for i := range p.In {
				var sum float64
				for r := range p.Rank {
					sum += float64(p.B[o*p.Rank+r]) * float64(p.A[r*p.In+i])
				}
				w = append(w, sum*float64(p.Scale))
			}
		}
		all[t.String()] = w
	}
	return all
}

// Of two saves, the weights of one and the config of the other are no adapter; a config
// that was edited where no scale hangs on it is one.
func TestPEFTFilesAreOfOneSave(t *testing.T) {
	other := random(4, 4)
	for _, p := range other.Pairs {
		p.Scale = 0.5
	}
	first, second := t.TempDir(), t.TempDir()
	if err := errors.Join(random(4, 4).Save(first), other.Save(second)); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(first, adapter.ConfigName)
	raw, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(raw, []byte("gemma-4-e2b-it"), []byte("another-name"), 1)
	if err := os.WriteFile(config, edited, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := adapter.Open(t.Context(), first); err != nil {
		t.Errorf("a config with another name: %v", err)
	}
	if err := os.Rename(filepath.Join(second, adapter.ConfigName), config); err != nil {
		t.Fatal(err)
	}
	if _, err := adapter.Open(t.Context(), first); !errors.Is(err, adapter.ErrFormat) ||
		!strings.Contains(err.Error(), "not of one save") {
		t.Errorf("the config of another save: %v", err)
	}
}

// No bit of an adapter's values may change unseen, in either form.
func TestAdaptersHaveAChecksum(t *testing.T) {
	for _, name := range []string{"adapter", "adapter.gguf"} {
		path := filepath.Join(t.TempDir(), name)
		if err := random(4, 8).Save(path); err != nil {
			t.Fatal(err)
		}
		file := path
		if name == "adapter" {
			file = filepath.Join(path, adapter.WeightsName)
		}
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := len(whole) / 2; at < len(whole); at += len(whole)/100 + 1 {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 1 << (at % 8)
			if err := os.WriteFile(file, flipped, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := adapter.Open(t.Context(), path); err == nil {
				t.Errorf("%s: a bit of byte %d of %d flipped unseen", name, at, len(whole))
			}
		}
	}
}

func TestPEFTNames(t *testing.T) {
	const layer3 = "layers.3.self_attn.k_proj.lora_B.weight"
	for name, ok := range map[string]bool{
		"base_model.model.model.language_model." + layer3: true,
		"base_model.model.model." + layer3:                true,
		layer3:                                            true,
		"base_model.model.model.layers.3.self_attn.k_proj.lora_B.default.weight":        true,
		"base_model.model.model.vision_tower.encoder." + layer3:                         false,
		"base_model.model.model.language_model.layers.x.self_attn.k_proj.lora_B.weight": false,
		"base_model.model.model.language_model.layers.3.self_attn.k_proj.lora_B.bias":   false,
		"base_model.model.model.language_model.layers.3.mlp.k_proj.lora_B.weight":       false,
		"mylayers.3.self_attn.k_proj.lora_B.weight":                                     false,
	} {
		got, half, found := adapter.ParsePEFTName(name)
		if found != ok || ok && (got != adapter.Target{Layer: 3, Linear: adapter.K} || half != adapter.B) {
			t.Errorf("%s: %v %v %v", name, got, half, found)
		}
	}
	for _, l := range adapter.All() {
		want := adapter.Target{Layer: 7, Linear: l}
		if got, half, ok := adapter.ParsePEFTName(adapter.PEFTName(want, adapter.A)); !ok || got != want ||
			half != adapter.A {
			t.Errorf("%s: %v %v %v", adapter.PEFTName(want, adapter.A), got, half, ok)
		}
	}
}

// byOthers is a file of weights as other programs write it, which say nothing of the
// config beside them.
func byOthers(t *testing.T, weights []byte) (out bytes.Buffer) {
	t.Helper()
	file, err := safetensors.Read(bytes.NewReader(weights), int64(len(weights)))
	if err != nil {
		t.Fatal(err)
	}
	var tensors []safetensors.Values
	for _, tensor := range file.Tensors {
		values, err := tensor.Floats()
		if err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, safetensors.Values{Name: tensor.Name, Shape: tensor.Shape, Values: values})
	}
	if err := safetensors.Write(&out, map[string]string{"format": "pt"}, tensors); err != nil {
		t.Fatal(err)
	}
	return out
}

// PEFT takes its settings from the config: what cannot be computed is refused.
func TestConfig(t *testing.T) {
	a := random(4)
	var config, weights bytes.Buffer
	if err := a.WritePEFT(&config, &weights); err != nil {
		t.Fatal(err)
	}
	weights = byOthers(t, weights.Bytes())
	read := func(change func(map[string]any)) (*adapter.Adapter, error) {
		var c map[string]any
		if err := json.Unmarshal(config.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		change(c)
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return adapter.ReadPEFT(data, bytes.NewReader(weights.Bytes()), int64(weights.Len()))
	}
	scales := map[string]struct {
		change func(map[string]any)
		want   float32
	}{
		"as written":      {func(map[string]any) {}, 2},
		"another alpha":   {func(c map[string]any) { c["lora_alpha"] = 2 }, 0.5},
		"rank stabilised": {func(c map[string]any) { c["use_rslora"] = true }, 4},
		"a pattern":       {func(c map[string]any) { c["alpha_pattern"] = map[string]any{"down_proj": 4} }, 1},
	}
	for name, s := range scales {
		got, err := read(s.change)
		if err != nil {
			t.Fatal(err)
		}
		if scale := got.Pairs[adapter.Target{Layer: 0, Linear: adapter.Down}].Scale; scale != s.want {
			t.Errorf("%s: the scale is %v, wanted %v", name, scale, s.want)
		}
	}
	for key, value := range map[string]any{"peft_type": "LOHA", "use_dora": true, "bias": "all", "fan_in_fan_out": true,
		"modules_to_save": []string{"lm_head"}} {
		if _, err := read(func(c map[string]any) { c[key] = value }); !errors.Is(err, adapter.ErrFormat) ||
			!strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestRefused(t *testing.T) {
	spoiled := map[string]func(*adapter.Adapter){
		"not a number": func(a *adapter.Adapter) {
			a.Pairs[adapter.Target{Layer: 0, Linear: adapter.Q}].A[3] = float32(math.NaN())
		},
	}
	for name, spoil := range spoiled {
		a := random(4)
		spoil(a)
		var b bytes.Buffer
		if err := a.WriteGGUF(&b); err != nil {
			t.Fatal(err)
		}
		file, err := gguf.Open(t.Context(), gguf.Memory(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := adapter.FromGGUF(file); !errors.Is(err, adapter.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}

	model, err := gguf.OpenPath(context.Background(), "../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	if _, err := adapter.FromGGUF(model); !errors.Is(err, adapter.ErrFormat) {
		t.Errorf("a model: %v", err)
	}
	nano, err := arch.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := random(4).Check(nano); !errors.Is(err, adapter.ErrTarget) {
		t.Errorf("on another model: %v", err)
	}
	if err := new(adapter.Adapter).Check(nano); !errors.Is(err, adapter.ErrFormat) {
		t.Errorf("an empty adapter: %v", err)
	}
	if _, err := adapter.Open(t.Context(), t.TempDir()); !errors.Is(err, adapter.ErrFormat) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := adapter.Open(t.Context(), "nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
}

func FuzzReadPEFT(f *testing.F) {
	var config, weights bytes.Buffer
	if err := random(2).WritePEFT(&config, &weights); err != nil {
		f.Fatal(err)
	}
	f.Add(config.Bytes(), weights.Bytes())
	f.Add([]byte("{}"), []byte{})
	f.Fuzz(func(t *testing.T, config, weights []byte) {
		a, err := adapter.ReadPEFT(config, bytes.NewReader(weights), int64(len(weights)))
		if err == nil && len(a.Pairs) == 0 {
			t.Error("an adapter without pairs")
		}
	})
}
