package gpu

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gemwire/gemwire/finetune/internal/lora"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit"
)

// openModel opens a model of the conformance cases on the GPU; the test is skipped
// where there is none.
func openModel(t testing.TB, name string, opts gemma4.OpenOptions) *gemma4.Model {
	t.Helper()
	return openPath(t, conformance.Path(t, name+".gguf"), opts)
}

func openPath(t testing.TB, path string, opts gemma4.OpenOptions) *gemma4.Model {
	t.Helper()
	file, err := gguf.OpenFile(path)
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
	list, err := m.pairs.read(grads, m.kit.Device())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// What PyTorch makes of the reference's adapter.
func TestLossAndGradients(t *testing.T) {
	for _, name := range []string{lora.OnE2B, lora.OnGemma3} {
		t.Run(name, func(t *testing.T) { testLossAndGradients(t, name) })
	}
}

func testLossAndGradients(t *testing.T, name string) {
	c, file := lora.Open(t, name)
	model := openPath(t, c.Model, gemma4.OpenOptions{})
	wanted := lora.ReadPairs(t, file, "grad", c.Alpha)
	batch := c.Batch(t)
	type way struct {
		recompute bool
		precision Precision
		tolerance float64
	}
	ways := []way{{false, Float32, 1e-3}, {true, Float16, 1e-2}, {true, Float32, 1e-3}, {false, Float16, 1e-2}}
	if name == lora.OnE2B {
		ways = conformance.Some(2, ways...)
	} else {
		ways = conformance.Some(1, ways...)
	}
	for _, kept := range ways {
		m, pairs := machineFor(t, model, lora.ReadPairs(t, file, "adapter", c.Alpha))
		m.Recompute, m.Precision = kept.recompute, kept.precision
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
			if a, b := relative(t, got[i].A, want.A), relative(t, got[i].B, want.B); a > kept.tolerance ||
				b > kept.tolerance {
				t.Errorf("%+v, layer %d, %s: the gradient of A is %.1e off, of B %.1e", kept, s.Layer, s.Linear, a, b)
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
	for _, p := range conformance.Some(1, Float32, Float16) {
		t.Run(string(p), func(t *testing.T) { testRun(t, p) })
	}
}

func testRun(t *testing.T, precision Precision) {
	const rate = 5e-3
	c, file := lora.Open(t, lora.OnE2B)
	pairs := lora.ReadPairs(t, file, "adapter", c.Alpha)
	for _, p := range pairs {
		clear(p.B)
	}
	m, _ := machineFor(t, openPath(t, c.Model, gemma4.OpenOptions{}), pairs)
	m.Precision = precision
	batch := c.Batch(t)
	losses := conformance.Some(4, c.Run.Losses...)
	for i, want := range losses {
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
			t.Errorf("step %d: a loss of %.6f and a gradient of length %.6f, wanted %.6f and %.6f", i, loss, length,
				want, c.Run.GradNorms[i])
		}
	}
	got, state, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if state.Steps != len(losses) {
		t.Errorf("%d steps remembered, made %d", state.Steps, len(losses))
	}
	if precision != Float32 || len(losses) < len(c.Run.Losses) {
		return // losses are compared; steps of halves may end elsewhere
	}
	trained := lora.ReadPairs(t, file, "trained", c.Alpha)
	for i, s := range m.tape.Slots {
		want := trained[s.Target]
		if a, b := relative(t, got[i].A, want.A), relative(t, got[i].B, want.B); a > 1e-2 || b > 1e-2 {
			t.Errorf("layer %d, %s: A is %.1e off, B %.1e", s.Layer, s.Linear, a, b)
		}
	}
}
