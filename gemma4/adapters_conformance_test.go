package gemma4_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// loraReference is lora.*: an adapter on e2b, and its logits on a prompt.
func loraReference(t testing.TB) (a *adapter.Adapter, prompt []int32, logits []float32) {
	t.Helper()
	raw, err := os.ReadFile(conformance.Path(t, "lora.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Alpha     float32 `json:"alpha"`
		PromptIDs []int32 `json:"prompt_ids"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(conformance.Path(t, "lora.safetensors")); err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	a = &adapter.Adapter{Pairs: map[adapter.Target]*adapter.Pair{}}
	for _, tensor := range file.Tensors {
		target, half, ok := adapter.ParsePEFTName(tensor.Name)
		if !ok || !strings.HasPrefix(tensor.Name, "adapter.") {
			continue
		}
		values, err := tensor.Floats()
		if err != nil {
			t.Fatal(err)
		}
		p := a.Pairs[target]
		if p == nil {
			p = new(adapter.Pair)
			a.Pairs[target] = p
		}
		if half == adapter.A {
			p.A, p.Rank, p.In, p.Scale = values, tensor.Shape[0], tensor.Shape[1], c.Alpha/float32(tensor.Shape[0])
		} else {
			p.B, p.Out = values, tensor.Shape[0]
		}
	}
	if logits, err = file.Floats("logits"); err != nil {
		t.Fatal(err)
	}
	return a, c.PromptIDs, logits
}

// everyLogits are those of all positions of a text.
func everyLogits(t testing.TB, s *gemma4.Session, ids []int32) []float32 {
	t.Helper()
	var all []float32
	err := s.Logits(t.Context(), gemma4.Tokens(ids), func(_ int, row []float32) error {
		all = append(all, row...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// relative is ‖got − want‖ / ‖want‖.
func relative(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var off, length float64
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		off += d * d
		length += float64(want[i]) * float64(want[i])
	}
	return math.Sqrt(off / length)
}

func use(t testing.TB, m *gemma4.Model, name string, a *adapter.Adapter) {
	t.Helper()
	if err := m.LoadAdapter(name, a); err != nil {
		t.Fatal(err)
	}
	if err := m.UseAdapters(t.Context(), map[string]float32{name: 1}); err != nil {
		t.Fatal(err)
	}
}

// tolerances of logits against the reference.
var logitTolerance = map[gemma4.Device]float64{gemma4.DeviceCPU: 1e-5, gemma4.DeviceGPU: 2e-3}

// Logits under an adapter are those of transformers with PEFT.
func TestAdapterConformance(t *testing.T) {
	a, prompt, want := loraReference(t)
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, conformance.Path(t, "e2b.gguf"), opts)
		s := newSession(t, m, 0)
		use(t, m, "reference", a)
		off := relative(everyLogits(t, s, prompt), want)
		t.Logf("%.2g off", off)
		if !(off <= logitTolerance[opts.Device]) {
			t.Errorf("%.2g off, %g allowed", off, logitTolerance[opts.Device])
		}
	})
}

// Every kind of model computes the same with adapters on both devices: row by row,
// in a prompt and while it answers.
func TestAdaptersOnBothDevices(t *testing.T) {
	for _, kind := range conformance.Some(1, "e2b", "f32", "dense", "moe", "types") {
		t.Run(kind, func(t *testing.T) {
			path := conformance.Path(t, kind+".gguf")
			ids := []int32{2, 5, 384, 279, 866, 6, 279, 5, 383, 279, 512}
			var want, probs []float32
			var stream []int32
			onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
				opts.Context = 128
				m := open(t, path, opts)
				s := newSession(t, m, 0)
				bare := everyLogits(t, s, ids)
				for i, name := range []string{"one", "two"} {
					if err := m.LoadAdapter(name, randomAdapter(t, m, uint64(i), 4)); err != nil {
						t.Fatal(err)
					}
				}
				if err := m.UseAdapters(t.Context(), map[string]float32{"one": 1, "two": -0.5}); err != nil {
					t.Fatal(err)
				}
				logits := everyLogits(t, s, ids)
				answer, answerProbs := greedyProbs(t, s, ids, 8)
				if off := relative(logits, bare); off < 0.01 {
					t.Errorf("the adapters change logits by %.2g", off)
				}
				if opts.Device == gemma4.DeviceCPU {
					want, stream, probs = logits, answer, answerProbs
					return
				}
				if off := relative(logits, want); !(off <= logitTolerance[opts.Device]) {
					t.Errorf("%.2g off", off)
				}
				for i, p := range probs {
					if math.Abs(float64(p-answerProbs[i])) > 0.02 {
						t.Errorf("token %d has log-probability %v, on the CPU %v", i, answerProbs[i], p)
					}
				}
				if !equal(answer, stream) {
					t.Errorf("answers %v, on the CPU %v", answer, stream)
				}
				if err := m.ClearAdapters(t.Context()); err != nil {
					t.Fatal(err)
				}
				if off := relative(everyLogits(t, s, ids), bare); off > 1e-6 {
					t.Errorf("without adapters again, %.2g off", off)
				}
			})
		})
	}
}

// greedyProbs are the most probable tokens after a prompt, and how probable each is.
func greedyProbs(t testing.TB, s *gemma4.Session, prompt []int32, n int) (tokens []int32, probs []float32) {
	t.Helper()
	c := gemma4.Choosing{MaxTokens: n, Sampling: sample.Params{LogProbs: 1}}
	for choice, err := range s.Choose(t.Context(), gemma4.Tokens(prompt), c) {
		if err != nil {
			t.Fatal(err)
		}
		tokens, probs = append(tokens, choice.Token), append(probs, choice.LogProb)
	}
	return tokens, probs
}

// Other weights of the same adapters change the matrices and not the programs.
func TestAdapterWeightsOnGPU(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 256})
	s := newSession(t, m, 0)
	ids := []int32{2, 5, 384, 279, 512, 610}
	plain := everyLogits(t, s, ids)
	use(t, m, "one", randomAdapter(t, m, 1, 0.5))
	full := everyLogits(t, s, ids)
	memory := m.GPUMemory()
	for _, w := range []struct {
		weight float32
		want   []float32
	}{{0, plain}, {1, full}} {
		if err := m.UseAdapters(t.Context(), map[string]float32{"one": w.weight}); err != nil {
			t.Fatal(err)
		}
		if off := relative(everyLogits(t, s, ids), w.want); off > 1e-4 {
			t.Errorf("with a weight of %v, %.2g off", w.weight, off)
		}
	}
	for purpose, n := range m.GPUMemory() {
		if n != memory[purpose] {
			t.Errorf("%v: %d bytes where there were %d", purpose, n, memory[purpose])
		}
	}
	if slices.Equal(full, plain) {
		t.Error("the adapter makes no difference")
	}
}
