package cpu

import (
	"cmp"
	"math"
	"slices"
)

// mixture computes rms(Σ weight·expert(rms(x; pre_ffw_norm_2)); post_ffw_norm_2)
// over the experts that the router chooses for each token, [tokens, d].
func (m *Model) mixture(e *experts, tokens int, x []float32) ([]float32, error) {
	d, eps := m.config.EmbeddingLength, m.config.Eps
	chosen, err := m.route(e, tokens, x)
	if err != nil {
		return nil, err
	}
	h := make([]float32, tokens*d)
	rmsNorm(h, x, e.preNorm, eps)
	sum := make([]float32, tokens*d)
	for expert, of := range chosen {
		if err := m.expert(e, expert, of, h, sum); err != nil {
			return nil, err
		}
	}
	rmsNorm(sum, sum, e.postNorm, eps)
	return sum, nil
}

// choice is a token that an expert was chosen for, and the weight of the
// expert's output.
type choice struct {
	token  int
	weight float32
}

// route returns the tokens that each expert is chosen for. The router looks at
// the un-normed x: r = softmax(router·(rms(x) / √d ⊙ scale)), the largest of which
// are renormalised to sum 1 and multiplied by each expert's own scale.
func (m *Model) route(e *experts, tokens int, x []float32) ([][]choice, error) {
	d, n := m.config.EmbeddingLength, m.config.Experts
	h := make([]float32, tokens*d)
	rmsNormPlain(h, x, d, m.config.Eps)
	rootD := float32(1 / math.Sqrt(float64(d)))
	for t := range tokens {
		for j, w := range e.routerScale {
			h[t*d+j] *= rootD * w
		}
	}
	r := make([]float32, tokens*n)
	if err := m.mul(tokens, whole(e.router, h, r)); err != nil {
		return nil, err
	}
	chosen := make([][]choice, n)
	for t := range tokens {
		weights := r[t*n : (t+1)*n]
		softmax(weights) // the sum cancels out in the renormalisation
		best := topK(weights, m.config.ExpertsUsed)
		var sum float64
		for _, expert := range best {
			sum += float64(weights[expert])
		}
		for _, expert := range best {
			weight := float32(float64(weights[expert])/sum) * e.downScale[expert]
			chosen[expert] = append(chosen[expert], choice{t, weight})
		}
	}
	return chosen, nil
}

// topK returns the indices of the k largest weights, of equals the lower one.
func topK(weights []float32, k int) []int {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	return order[:k]
}

// expert adds one expert's weighted output for the tokens that chose it to sum.
func (m *Model) expert(e *experts, expert int, of []choice, h, sum []float32) error {
	if len(of) == 0 {
		return nil
	}
	d := m.config.EmbeddingLength
	x := make([]float32, len(of)*d)
	for i, c := range of {
		copy(x[i*d:(i+1)*d], h[c.token*d:])
	}
	y := make([]float32, len(of)*d)
	if err := m.dense(len(of), e.gate.of(expert, x, nil), e.up.of(expert, x, nil),
		e.down.of(expert, nil, y)); err != nil {
		return err
	}
	for i, c := range of {
		axpy(c.weight, y[i*d:(i+1)*d], sum[c.token*d:(c.token+1)*d])
	}
	return nil
}
