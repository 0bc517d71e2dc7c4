package measure

import (
	"math/rand/v2"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
)

// randomAdapter changes every linear of a model a little, the same each time.
func randomAdapter(m *gemma4.Model, rank int) (*adapter.Adapter, error) {
	model, err := arch.Open(m.File())
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(7, 8))
	a := &adapter.Adapter{Pairs: map[adapter.Target]*adapter.Pair{}}
	for i := range model.Layers {
		for _, linear := range adapter.All() {
			w := linear.Tensor(&model.Layers[i])
			if w == nil {
				continue
			}
			p := &adapter.Pair{Rank: rank, In: w.RowLen(), Out: w.Rows(), Scale: 1}
			p.A, p.B = smallNumbers(rng, rank*p.In), smallNumbers(rng, p.Out*rank)
			a.Pairs[adapter.Target{Layer: i, Linear: linear}] = p
		}
	}
	return a, nil
}

func smallNumbers(rng *rand.Rand, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(0.01 * rng.NormFloat64())
	}
	return values
}
