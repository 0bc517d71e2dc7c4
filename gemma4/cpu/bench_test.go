package cpu

import (
	"context"
	"testing"
)

// BenchmarkDecode measures the step of a single token of the built-in model
// behind 100 others.
func BenchmarkDecode(b *testing.B) {
	for _, bench := range []struct {
		name    string
		options Options
	}{
		{"decoded weights", Options{}},
		{"one thread", Options{Threads: 1}},
		{"everything in memory", Options{Threads: 1, Whole: true}},
		{"weights read in each step", Options{WeightBudget: -1}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			m := openModel(b, findCase(b, "nano").model, bench.options)
			cache := newCache(b, m)
			forward(b, m, cache, promptOf(b, "nano", 100), Want{Logits: NoLogits})
			token := Tokens([]int32{5})
			b.ResetTimer()
			for range b.N {
				if err := cache.Truncate(100); err != nil {
					b.Fatal(err)
				}
				if _, err := m.Forward(context.Background(), cache, token, Want{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// BenchmarkPrefill measures a prompt of 512 tokens, all of whose logits but the
// last go unread.
func BenchmarkPrefill(b *testing.B) {
	m := openModel(b, findCase(b, "nano").model, Options{})
	inputs := promptOf(b, "nano", 512)
	cache := newCache(b, m)
	for range b.N {
		if err := cache.Truncate(0); err != nil {
			b.Fatal(err)
		}
		forward(b, m, cache, inputs, Want{})
	}
	b.ReportMetric(float64(b.N*len(inputs))/b.Elapsed().Seconds(), "tokens/s")
}

// promptOf repeats a case's longest prompt up to n tokens.
func promptOf(t testing.TB, name string, n int) []Input {
	t.Helper()
	var ids []int32
	for _, p := range findCase(t, name).prompts {
		if len(p.IDs) > len(ids) {
			ids = p.IDs
		}
	}
	inputs := make([]Input, n)
	for i := range inputs {
		inputs[i].Token = ids[i%len(ids)]
	}
	return inputs
}
