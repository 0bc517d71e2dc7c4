package ops_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// BenchmarkSample replays sampling alone, many steps ahead of the host.
func BenchmarkSample(b *testing.B) {
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		b.Skip("no GPU: ", err)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dev.Close() })
	kit := ops.New(dev)
	for _, vocab := range []int{2048, 262144} {
		s := newSampling(b, kit, ops.SamplerOptions{MaxLogProbs: 20}, randomLogits(vocab, 3))
		for _, c := range []struct {
			name string
			p    ops.SampleParams
		}{
			{"greedy", ops.SampleParams{}},
			{"topk64", ops.SampleParams{Temperature: 1, TopK: 64}},
			{"gemma", ops.SampleParams{Temperature: 1, TopK: 64, TopP: 0.95}},
			{"topp0.9", ops.SampleParams{Temperature: 1, TopP: 0.9}},
			{"logprobs20", ops.SampleParams{Temperature: 1, TopK: 64, TopP: 0.95, RepetitionPenalty: 1.1,
				LogProbs: 20}},
		} {
			b.Run(fmt.Sprintf("%d/%s", vocab, c.name), func(b *testing.B) {
				s.start(c.p, []int32{1})
				for range b.N {
					s.submit(1)
				}
				if err := dev.Wait(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
