package cpu

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// shared is a file of the conformance cases that all parts of the project use.
func shared(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("GEMWIRE_SHARED")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(folder, "conformance", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no conformance cases: %v (set GEMWIRE_SHARED to the folder that holds them)", err)
	}
	return path
}

// loraCase is lora.json: what PyTorch made of an adapter on e2b.
type loraCase struct {
	Examples []struct {
		IDs         []int32 `json:"ids"`
		FirstTarget int     `json:"first_target"`
	} `json:"examples"`
	Alpha     float32 `json:"alpha"`
	Loss      float64 `json:"loss"`
	Targets   int     `json:"targets"`
	PromptIDs []int32 `json:"prompt_ids"`
	Run       struct {
		Losses    []float64 `json:"losses"`
		GradNorms []float64 `json:"grad_norms"`
	} `json:"run"`
}

func (c *loraCase) batch(t testing.TB) *tape.Batch {
	var examples []tape.Example
	for _, e := range c.Examples {
		x := tape.Example{Tokens: tokens(e.IDs), Targets: make([]int32, len(e.IDs))}
		for i := range x.Targets {
			x.Targets[i] = tape.NoTarget
			if next := i + 1; next >= e.FirstTarget && next+1 < len(e.IDs) {
				x.Targets[i] = e.IDs[next]
			}
		}
		examples = append(examples, x)
	}
	return batchOf(t, examples...)
}

func tokens(ids []int32) []tape.Token {
	list := make([]tape.Token, len(ids))
	for i, id := range ids {
		list[i].ID = id
	}
	return list
}

func batchOf(t testing.TB, examples ...tape.Example) *tape.Batch {
	t.Helper()
	b, err := tape.NewBatch(examples, false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openModel(t testing.TB, path string) *arch.Model {
	t.Helper()
	file, err := gguf.OpenPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	model, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// readPairs reads the pairs of a reference file whose names begin with a prefix.
func readPairs(t testing.TB, file *safetensors.File, prefix string, alpha float32) map[adapter.Target]*adapter.Pair {
	t.Helper()
	pairs := map[adapter.Target]*adapter.Pair{}
	for _, tensor := range file.Tensors {
		if !strings.HasPrefix(tensor.Name, prefix+".") {
			continue
		}
		target, half, ok := adapter.ParsePEFTName(tensor.Name)
		if !ok {
			t.Fatalf("%s: not a name of PEFT's", tensor.Name)
		}
		values, err := tensor.Floats()
		if err != nil {
			t.Fatal(err)
		}
		if pairs[target] == nil {
			pairs[target] = new(adapter.Pair)
		}
		p := pairs[target]
		if half == adapter.A {
			p.A, p.Rank, p.In = values, int(tensor.Shape[0]), int(tensor.Shape[1])
			p.Scale = alpha / float32(p.Rank)
		} else {
			p.B, p.Out = values, int(tensor.Shape[0])
		}
	}
	return pairs
}

func openLora(t testing.TB) (*loraCase, *safetensors.File) {
	t.Helper()
	data, err := os.ReadFile(shared(t, "lora.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := new(loraCase)
	if err := json.Unmarshal(data, c); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(shared(t, "lora.safetensors"))
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
	return c, file
}

// machineFor makes a machine whose slots are those of the pairs.
func machineFor(t testing.TB, model *arch.Model, pairs map[adapter.Target]*adapter.Pair) (*Machine, []*adapter.Pair) {
	t.Helper()
	var targets []adapter.Target
	for target := range pairs {
		targets = append(targets, target)
	}
	list, err := tape.New(model, targets)
	if err != nil {
		t.Fatal(err)
	}
	m := New(list, 0)
	t.Cleanup(m.Close)
	bySlot := make([]*adapter.Pair, len(list.Slots))
	for i, s := range list.Slots {
		bySlot[i] = pairs[s.Target]
	}
	return m, bySlot
}

func relative(t testing.TB, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, wanted %d", len(got), len(want))
	}
	var off, size float64
	for i := range got {
		d := float64(got[i]) - float64(want[i])
		off += d * d
		size += float64(want[i]) * float64(want[i])
	}
	return math.Sqrt(off / size)
}

func TestAdapterLogits(t *testing.T) {
	c, file := openLora(t)
	m, pairs := machineFor(t, openModel(t, shared(t, "e2b.gguf")), readPairs(t, file, "adapter", c.Alpha))
	x := tape.Example{Tokens: tokens(c.PromptIDs), Targets: make([]int32, len(c.PromptIDs))}
	got, err := m.Logits(context.Background(), batchOf(t, x), pairs)
	if err != nil {
		t.Fatal(err)
	}
	want, err := file.Floats("logits")
	if err != nil {
		t.Fatal(err)
	}
	if off := relative(t, got[len(got)-len(want):], want); off > 1e-5 {
		t.Errorf("logits are %.1e off", off)
	}
}

func TestLossAndGradients(t *testing.T) {
	c, file := openLora(t)
	m, pairs := machineFor(t, openModel(t, shared(t, "e2b.gguf")), readPairs(t, file, "adapter", c.Alpha))
	wanted := readPairs(t, file, "grad", c.Alpha)
	batch := c.batch(t)
	if len(batch.Asked) != c.Targets {
		t.Fatalf("%d targets, wanted %d", len(batch.Asked), c.Targets)
	}
	for _, m.Recompute = range []bool{false, true} {
		grads := optimizer.Zeros(pairs)
		loss, err := m.Gradients(context.Background(), batch, pairs, grads, 1/float64(c.Targets))
		if err != nil {
			t.Fatal(err)
		}
		if got := loss / float64(c.Targets); math.Abs(got-c.Loss) > 1e-5*c.Loss {
			t.Errorf("the loss is %v, wanted %v", got, c.Loss)
		}
		for i, s := range m.tape.Slots {
			want := wanted[s.Target]
			for half, off := range map[adapter.Half]float64{adapter.A: relative(t, grads[i].A, want.A), adapter.B: relative(t, grads[i].B, want.B)} {
				if off > 1e-3 {
					t.Errorf("layer %d, %s: the gradient of %s is %.1e off", s.Layer, s.Linear, half, off)
				}
			}
		}
	}
}
