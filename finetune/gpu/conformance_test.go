package gpu

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/wgslkit"
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

// openModel opens a model on the GPU; the test is skipped where there is none.
func openModel(t testing.TB, name string, opts gemma4.OpenOptions) *gemma4.Model {
	t.Helper()
	file, err := gguf.OpenFile(shared(t, name+".gguf"))
	if err != nil {
		t.Fatal(err)
	}
	opts.Device, opts.Context = gemma4.DeviceGPU, 128
	model, err := gemma4.Open(t.Context(), file, opts)
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	return model
}

// machineFor makes a machine that trains the pairs, over a model.
func machineFor(t testing.TB, model *gemma4.Model, pairs map[adapter.Target]*adapter.Pair) (*Machine, []*adapter.Pair) {
	t.Helper()
	list := tapeFor(t, model, pairs)
	m, err := New(list, model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	bySlot := make([]*adapter.Pair, len(list.Slots))
	for i, s := range list.Slots {
		bySlot[i] = pairs[s.Target]
	}
	if err := m.Write(t.Context(), bySlot, optimizer.NewState(bySlot)); err != nil {
		t.Fatal(err)
	}
	return m, bySlot
}

func tapeFor(t testing.TB, model *gemma4.Model, pairs map[adapter.Target]*adapter.Pair) *tape.Tape {
	t.Helper()
	var targets []adapter.Target
	for target := range pairs {
		targets = append(targets, target)
	}
	parsed, err := arch.Open(model.File())
	if err != nil {
		t.Fatal(err)
	}
	list, err := tape.New(parsed, targets)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// loraCase is lora.json: what PyTorch made of an adapter on e2b.
type loraCase struct {
	Examples []struct {
		IDs         []int32 `json:"ids"`
		FirstTarget int     `json:"first_target"`
	} `json:"examples"`
	Alpha   float32 `json:"alpha"`
	Loss    float64 `json:"loss"`
	Targets int     `json:"targets"`
	Run     struct {
		Losses    []float64 `json:"losses"`
		GradNorms []float64 `json:"grad_norms"`
	} `json:"run"`
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

func (c *loraCase) batch(t testing.TB) *tape.Batch {
	t.Helper()
	var examples []tape.Example
	for _, e := range c.Examples {
		x := tape.Example{Tokens: make([]tape.Token, len(e.IDs)), Targets: make([]int32, len(e.IDs))}
		for i := range x.Targets {
			x.Tokens[i].ID, x.Targets[i] = e.IDs[i], tape.NoTarget
			if next := i + 1; next >= e.FirstTarget && next+1 < len(e.IDs) {
				x.Targets[i] = e.IDs[next]
			}
		}
		examples = append(examples, x)
	}
	b, err := tape.NewBatch(examples, false)
	if err != nil {
		t.Fatal(err)
	}
	return b
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
	if size == 0 {
		return math.Sqrt(off)
	}
	return math.Sqrt(off / size)
}

// gathered reads what gradients have gathered.
func gathered(t testing.TB, m *Machine) []*adapter.Pair {
	t.Helper()
	list, err := m.pairs.read(grads)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// What PyTorch makes of the reference's adapter.
func TestLossAndGradients(t *testing.T) {
	c, file := openLora(t)
	model := openModel(t, "e2b", gemma4.OpenOptions{})
	wanted := readPairs(t, file, "grad", c.Alpha)
	batch := c.batch(t)
	for _, recompute := range []bool{false, true} {
		m, pairs := machineFor(t, model, readPairs(t, file, "adapter", c.Alpha))
		m.Recompute = recompute
		loss, err := m.Loss(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		again, err := m.Gradients(t.Context(), batch, 1/float64(c.Targets))
		if err != nil {
			t.Fatal(err)
		}
		if got := loss / float64(c.Targets); math.Abs(got-c.Loss) > 1e-4*c.Loss || again != loss {
			t.Errorf("the loss is %v and %v, wanted %v", got, again/float64(c.Targets), c.Loss)
		}
		got := gathered(t, m)
		for i, s := range m.tape.Slots {
			want := wanted[s.Target]
			if a, b := relative(t, got[i].A, want.A), relative(t, got[i].B, want.B); a > 1e-3 || b > 1e-3 {
				t.Errorf("recompute %t, layer %d, %s: the gradient of A is %.1e off, of B %.1e", recompute, s.Layer, s.Linear, a, b)
			}
		}
		if len(pairs) == 0 {
			t.Error("nothing is trained")
		}
		m.Close()
	}
}

// The reference's run: its adapter with B = 0, a constant rate of 5e-3, both
// examples in each of 20 steps.
func TestRun(t *testing.T) {
	const rate = 5e-3
	c, file := openLora(t)
	pairs := readPairs(t, file, "adapter", c.Alpha)
	for _, p := range pairs {
		clear(p.B)
	}
	m, _ := machineFor(t, openModel(t, "e2b", gemma4.OpenOptions{}), pairs)
	batch := c.batch(t)
	for i, want := range c.Run.Losses {
		loss, err := m.Gradients(t.Context(), batch, 1/float64(c.Targets))
		if err != nil {
			t.Fatal(err)
		}
		loss /= float64(c.Targets)
		length, err := m.Step(context.Background(), optimizer.Default(), rate)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(loss-want) > 0.01*want || math.Abs(length-c.Run.GradNorms[i]) > 0.01*c.Run.GradNorms[i] {
			t.Errorf("step %d: a loss of %.6f and a gradient of length %.6f, wanted %.6f and %.6f", i, loss, length, want, c.Run.GradNorms[i])
		}
	}
	got, state, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trained := readPairs(t, file, "trained", c.Alpha)
	for i, s := range m.tape.Slots {
		want := trained[s.Target]
		if a, b := relative(t, got[i].A, want.A), relative(t, got[i].B, want.B); a > 1e-2 || b > 1e-2 {
			t.Errorf("layer %d, %s: A is %.1e off, B %.1e", s.Layer, s.Linear, a, b)
		}
	}
	if state.Steps != len(c.Run.Losses) {
		t.Errorf("%d steps remembered, made %d", state.Steps, len(c.Run.Losses))
	}
}
