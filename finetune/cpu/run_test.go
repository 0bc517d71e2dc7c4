package cpu

import (
	"context"
	"math"
	"testing"

	"github.com/gemwire/gemwire/finetune/internal/lora"
	"github.com/gemwire/gemwire/finetune/optimizer"
)

// The reference's run: its adapter with B = 0, a constant rate of 5e-3, both
// examples in each of 20 steps.
func TestRun(t *testing.T) {
	const rate = 5e-3
	c, file := lora.Open(t, lora.OnE2B)
	m, pairs := machineFor(t, openModel(t, c.Model), lora.ReadPairs(t, file, "adapter", c.Alpha))
	for _, p := range pairs {
		clear(p.B)
	}
	batch := c.Batch(t)
	adamw, state := optimizer.Default(), optimizer.NewState(pairs)
	for i, want := range c.Run.Losses {
		grads := optimizer.Zeros(pairs)
		loss, err := m.Gradients(context.Background(), batch, pairs, grads, 1/float64(c.Targets))
		if err != nil {
			t.Fatal(err)
		}
		loss /= float64(c.Targets)
		length := adamw.Step(state, pairs, grads, rate)
		if math.Abs(loss-want) > 0.01*want || math.Abs(length-c.Run.GradNorms[i]) > 0.01*c.Run.GradNorms[i] {
			t.Errorf("step %d: a loss of %.6f and a gradient of length %.6f, wanted %.6f and %.6f", i, loss, length,
				want, c.Run.GradNorms[i])
		}
	}
	trained := lora.ReadPairs(t, file, "trained", c.Alpha)
	for i, s := range m.tape.Slots {
		want := trained[s.Target]
		if a, b := relative(t, pairs[i].A, want.A), relative(t, pairs[i].B, want.B); a > 1e-2 || b > 1e-2 {
			t.Errorf("layer %d, %s: A is %.1e off, B %.1e", s.Layer, s.Linear, a, b)
		}
	}
}
