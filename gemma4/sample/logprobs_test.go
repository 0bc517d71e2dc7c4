package sample

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Logits that are logarithms of whole numbers: the probabilities are these over their
// sum, whatever is added to all.
func TestLogProbsOfAnySum(t *testing.T) {
	ln := func(x float64) float32 { return float32(math.Log(x)) }
	weights := []float64{1, 4, 2, 0, 4, 9} // of 20
	all := []LogProb{
		{5, ln(9. / 20)}, {1, ln(4. / 20)}, {4, ln(4. / 20)}, {2, ln(2. / 20)}, {0, ln(1. / 20)},
		{3, float32(math.Inf(-1))},
	}
	for _, shift := range []float32{0, 5, -5, 80, -80} { // exp(89) is no float32
		logits := make([]float32, len(weights))
		for i, w := range weights {
			logits[i] = ln(w) + shift
		}
		for _, best := range all {
			for _, n := range []int{0, 1, 2, 3, 5, 6, 7, 100} {
				got, top := LogProbs(logits, best.Token, n)
				want := all[:min(n, len(all))]
				if diff := cmp.Diff(want, top, cmpopts.EquateApprox(0, 1e-5), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("the %d best, all %v more:\n%s", n, shift, diff)
				}
				if !cmp.Equal(best.LogProb, got, cmpopts.EquateApprox(0, 1e-5)) {
					t.Errorf("token %d, all %v more: log-probability %v, wanted %v", best.Token, shift, got,
						best.LogProb)
				}
			}
		}
	}
}

func TestLogProbsNobodyAskedFor(t *testing.T) {
	got, err := newSampler(t, 2, Params{}).Sample([]float32{0, 1}, nil, 0)
	if diff := cmp.Diff(Choice{Token: 1}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
