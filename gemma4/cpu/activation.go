package cpu

import (
	"math"

	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

// gelu is the tanh approximation, 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
func gelu(x float32) float32 {
	const c = 0.7978845608028654 // √(2/π)
	v := float64(x)
	return float32(0.5 * v * (1 + math.Tanh(c*(v+0.044715*v*v*v))))
}

// activationsPerPart is how many gelus are worth handing to another core.
const activationsPerPart = 1 << 12

// gated is gate = gelu(gate) ⊙ up.
func (m *Model) gated(gate, up []float32) error {
	return m.threads.each(len(gate), activationsPerPart, func(from, to int) error {
		kernel.Best.GatedGelu(gate[from:to], up[from:to])
		return nil
	})
}

// softmax replaces x by exp(x − max) and returns the sum of that, by which the
// caller divides.
func softmax(x []float32) (sum float64) { return kernel.Best.Softmax(x) }
