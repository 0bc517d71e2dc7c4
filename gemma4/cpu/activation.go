package cpu

import (
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

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
