package measure

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

func otherCases() []opCase {
	cases := []opCase{routerCase(128, 8)}
	for _, shape := range [][2]int{{1, 1536}, {1, 5376}, {128, 1536}} {
		cases = append(cases, normCase(shape[0], shape[1]))
	}
	for _, s := range []struct {
		name   string
		params ops.SampleParams
	}{
		{"greedy", ops.SampleParams{}},
		{"top-k 64, top-p 0.95", ops.SampleParams{Temperature: 1, TopK: 64, TopP: 0.95, Seed: 1}},
		{"all tokens, repetition penalty", ops.SampleParams{Temperature: 1, RepetitionPenalty: 1.1, Seed: 1}},
	} {
		cases = append(cases, sampleCase(s.name, s.params))
	}
	return cases
}

// normCase is the sum and the norm that end a block.
func normCase(width, n int) opCase {
	values := int64(width * n)
	return opCase{
		op: "norm", shape: fmt.Sprintf("x + rms(a; w), %d of %d", width, n), bytes: 4 * 3 * values, flops: 5 * values,
		width: width,
		setUp: func(b *opBench) (func(*ops.Recorder, int), error) {
			x, a, w, out := b.values("x", width*n), b.values("a", width*n), b.values("w", n), b.values("out", width*n)
			return func(r *ops.Recorder, _ int) {
				r.Residual("sum", x, n, ops.Residual{X: a, Weight: w, Eps: 1e-6, Out: out})
			}, b.err
		},
	}
}

func routerCase(experts, chosen int) opCase {
	return opCase{
		op: "router", shape: fmt.Sprintf("%d of %d experts", chosen, experts), bytes: int64(4 * experts),
		flops: int64(2 * experts), width: 1,
		setUp: func(b *opBench) (func(*ops.Recorder, int), error) {
			logits, ids, weights := b.values("logits", experts), b.values("ids", chosen), b.values("weights", chosen)
			return func(r *ops.Recorder, _ int) {
				r.Router(ops.Router{Label: "router", Logits: logits, Experts: experts, K: chosen, IDs: ids,
					Weights: weights})
			}, b.err
		},
	}
}

// sampledVocab is the family's.
const sampledVocab = 262144

func sampleCase(name string, params ops.SampleParams) opCase {
	return opCase{
		op: "sample", shape: fmt.Sprintf("%s, of %d", name, sampledVocab), bytes: 4 * sampledVocab,
		flops: 4 * sampledVocab, width: 1,
		setUp: func(b *opBench) (func(*ops.Recorder, int), error) {
			sampler, err := b.kit.NewSampler(ops.SamplerOptions{Vocab: sampledVocab, History: 4096})
			if err != nil {
				return nil, err
			}
			b.release = append(b.release, sampler.Release)
			if err := sampler.Configure(params); err != nil {
				return nil, err
			}
			logits := b.values("logits", sampledVocab)
			token, err := b.kit.Words("token", wgslkit.Activations, make([]uint32, 4))
			if err != nil {
				return nil, err
			}
			b.release = append(b.release, token.Release)
			return func(r *ops.Recorder, _ int) {
				r.Sample(ops.Sample{Label: "sample", Logits: logits, Tokens: token, Sampler: sampler})
			}, b.err
		},
	}
}
