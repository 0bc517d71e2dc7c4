package sample

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkSample(b *testing.B) {
	const vocab = 262144
	rng := rand.New(rand.NewPCG(1, 1))
	logits := make([]float32, vocab)
	for i := range logits {
		logits[i] = float32(rng.NormFloat64() * 4)
	}
	for _, bench := range []struct {
		name string
		p    Params
	}{
		{"greedy", Params{}},
		{"default", Default()},
		{"temperature alone", Params{Temperature: 1}},
		{"top-p alone", Params{Temperature: 1, TopP: 0.95}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := newSampler(b, vocab, bench.p)
			for i := range b.N {
				sampleOne(b, s, logits, nil, i)
			}
		})
	}
}
