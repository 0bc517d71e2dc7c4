package cpu

import "github.com/gemwire/gemwire/gguf"

// An Observer hears what goes into each product with weights: x is [tokens, columns] and only valid during the call.
// Of a tensor with a matrix for each expert, matrix is which one; the gate and the up of experts in one tensor have the
// same x, which is told once.
type Observer func(weights *gguf.Tensor, matrix int, x []float32)

// Observe sets who hears what goes into products, nil for nobody. No Forward may run meanwhile.
func (m *Model) Observe(o Observer) { m.observer = o }

func (m *Model) observe(tokens int, products []product) {
	for _, p := range products {
		t, perMatrix := p.w.tensor, p.w.rows
		if len(t.Dims) > 2 {
			perMatrix = int(t.Dims[1])
		}
		if p.first%perMatrix == 0 {
			m.observer(t, p.first/perMatrix, p.x[:tokens*p.w.cols])
		}
	}
}
