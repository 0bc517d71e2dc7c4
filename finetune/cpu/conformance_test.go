package cpu

import (
	"context"
	"math"
	"testing"

	"github.com/gemwire/gemwire/finetune/internal/lora"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

func tokens(ids []int32) []tape.Token {
	list := make([]tape.Token, len(ids))
	for i, id := range ids {
		list[i].ID = id
	}
	return list
}

func batchOf(t testing.TB, examples ...tape.Example) *tape.Batch {
	t.Helper()
	b, err := tape.NewBatch(examples, arch.CausalImages)
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
	for _, name := range []string{lora.OnE2B, lora.OnGemma3} {
		t.Run(name, func(t *testing.T) { testAdapterLogits(t, name) })
	}
}

func testAdapterLogits(t *testing.T, name string) {
	c, file := lora.Open(t, name)
	m, pairs := machineFor(t, openModel(t, c.Model), lora.ReadPairs(t, file, "adapter", c.Alpha))
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
	for _, name := range []string{lora.OnE2B, lora.OnGemma3} {
		t.Run(name, func(t *testing.T) { testLossAndGradients(t, name) })
	}
}

func testLossAndGradients(t *testing.T, name string) {
	c, file := lora.Open(t, name)
	m, pairs := machineFor(t, openModel(t, c.Model), lora.ReadPairs(t, file, "adapter", c.Alpha))
	wanted := lora.ReadPairs(t, file, "grad", c.Alpha)
	batch := c.Batch(t)
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
			for half, off := range map[adapter.Half]float64{adapter.A: relative(t, grads[i].A, want.A),
				adapter.B: relative(t, grads[i].B, want.B)} {
				if off > 1e-3 {
					t.Errorf("layer %d, %s: the gradient of %s is %.1e off", s.Layer, s.Linear, half, off)
				}
			}
		}
	}
}
