// Package samples makes what the tests need and no file has: a LoRA adapter of
// the built-in model that changes what it says.
package samples

import (
	"context"
	"math/rand/v2"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
)

// Adapter is one of random numbers on all linears of the built-in model, so
// large that the model talks nonsense under it.
func Adapter() (*adapter.Adapter, error) {
	file, err := gguf.Open(context.Background(), nano.Source())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	model, err := arch.Open(file)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(7, 7))
	a := &adapter.Adapter{Pairs: map[adapter.Target]*adapter.Pair{}}
	for i := range model.Layers {
		for _, linear := range adapter.All() {
			w := linear.Tensor(&model.Layers[i])
			if w == nil {
				continue
			}
			p := &adapter.Pair{Rank: 2, In: w.RowLen(), Out: w.Rows(), Scale: 1}
			p.A, p.B = normal(rng, p.Rank*p.In), normal(rng, p.Out*p.Rank)
			a.Pairs[adapter.Target{Layer: i, Linear: linear}] = p
		}
	}
	return a, nil
}

func normal(rng *rand.Rand, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	return values
}
