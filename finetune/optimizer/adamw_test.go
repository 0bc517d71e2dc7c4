package optimizer_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/gemma4/adapter"
)

var nearly = cmpopts.EquateApprox(1e-6, 1e-9)

// pair has one value in A and one in B.
func pair(a, b float32) []*adapter.Pair {
	return []*adapter.Pair{{A: []float32{a}, B: []float32{b}}}
}

// What a value of 10 becomes under a series of gradients, worked out by hand from
// Loshchilov and Hutter's algorithm 2: with means m and v, and
// m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ),
// θ ← θ·(1 − rate·decay) − rate·m̂/(√v̂+ε).
func TestStep(t *testing.T) {
	const rate = 0.5
	plain := optimizer.AdamW{Beta1: 0.5, Beta2: 0.75}
	with := func(change func(*optimizer.AdamW)) optimizer.AdamW {
		o := plain
		change(&o)
		return o
	}
	tests := []struct {
		name      string
		optimizer optimizer.AdamW
		gradients []float32
		want      []float64
	}{
		// m̂ = g and v̂ = g², whatever the corrections' powers: each step is the rate.
		{"the same gradient", plain, []float32{4, 4, 4}, []float64{9.5, 9, 8.5}},
		{"the sign alone", plain, []float32{-0.01, -0.01}, []float64{10.5, 11}},
		// t = 1: m = 2, v = 4; m̂ = 4, v̂ = 16.
		// t = 2: m = 0.5·2 + 0.5·0 = 1, v = 0.75·4 = 3; m̂ = 1/0.75, v̂ = 3/0.4375.
		// t = 3: m = 0.5·1 − 0.5·4 = −1.5, v = 0.75·3 + 0.25·16 = 6.25; m̂ = −1.5/0.875, v̂ = 6.25/0.578125.
		{"gradients that change", plain, []float32{4, 0, -4}, []float64{
			9.5,
			9.5 - 0.5*(1/0.75)/math.Sqrt(3/0.4375),
			9.5 - 0.5*(1/0.75)/math.Sqrt(3/0.4375) + 0.5*(1.5/0.875)/math.Sqrt(6.25/0.578125),
		}},
		// 4/(4+1), and ε is added to √v̂, not to √v or v̂.
		{"ε", with(func(o *optimizer.AdamW) { o.Epsilon = 1 }), []float32{4, 4},
			[]float64{10 - 0.5*0.8, 10 - 2*0.5*0.8}},
		// 1 − 0.5·0.2 = 0.9 of the value is left, and the gradient's step is the same.
		{"decay", with(func(o *optimizer.AdamW) { o.Decay = 0.2 }), []float32{4, 4}, []float64{8.5, 7.15}},
		{"no first mean", with(func(o *optimizer.AdamW) { o.Beta1 = 0 }), []float32{4, 0}, []float64{9.5, 9.5}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// B goes the other way, with a gradient of the other sign.
			pairs := pair(10, -10)
			state := optimizer.NewState(pairs)
			for i, g := range test.gradients {
				length := test.optimizer.Step(state, pairs, pair(g, -g), rate)
				if want := math.Sqrt2 * math.Abs(float64(g)); !cmp.Equal(length, want, nearly) {
					t.Errorf("step %d: a gradient of length %v, wanted %v", i+1, length, want)
				}
				got := []float64{float64(pairs[0].A[0]), -float64(pairs[0].B[0])}
				if diff := cmp.Diff([]float64{test.want[i], test.want[i]}, got, nearly); diff != "" {
					t.Errorf("step %d: A and −B:\n%s", i+1, diff)
				}
			}
			if state.Steps != len(test.gradients) {
				t.Errorf("%d steps are counted, %d were made", state.Steps, len(test.gradients))
			}
		})
	}
}

// The step's length depends little on the gradients', so that clipping shows in the
// means alone: (1−β₁)·g·f and (1−β₂)·(g·f)².
func TestClip(t *testing.T) {
	tests := []struct {
		name         string
		clip, factor float64
	}{
		{"none", 0, 1},
		{"longer than the gradients", 20, 1},
		{"as long as they are", 13, 13 / 13.000001}, // PyTorch's clip_grad_norm_ divides so
		{"half as long", 6.5, 6.5 / 13.000001},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pairs := append(pair(0, 0), pair(0, 0)...)
			state := optimizer.NewState(pairs)
			o := optimizer.AdamW{Beta1: 0.5, Beta2: 0.75, Clip: test.clip}
			// √(3² + 4² + 12²) = 13, over halves and pairs.
			if length := o.Step(state, pairs, append(pair(3, 4), pair(0, -12)...), 1); length != 13 {
				t.Errorf("a length of %v, wanted 13, before they are clipped", length)
			}
			for i, g := range [][2]float64{{3, 4}, {0, -12}} {
				first, second := state.First[i], state.Second[i]
				got := []float64{float64(first.A[0]), float64(first.B[0]), float64(second.A[0]), float64(second.B[0])}
				a, b := g[0]*test.factor, g[1]*test.factor
				if diff := cmp.Diff([]float64{0.5 * a, 0.5 * b, 0.25 * a * a, 0.25 * b * b}, got, nearly); diff != "" {
					t.Errorf("the means of pair %d:\n%s", i, diff)
				}
			}
		})
	}
}

// The 1e-6 in the denominator, where it is as much as the length.
func TestFactorOfShortGradients(t *testing.T) {
	if got := (optimizer.AdamW{Clip: 1e-6}).Factor(1e-6); !cmp.Equal(got, 0.5, nearly) {
		t.Errorf("Factor = %v, wanted 1e-6/(1e-6+1e-6)", got)
	}
}

// torch.optim.AdamW's own settings, and the length that trainers clip to.
func TestDefault(t *testing.T) {
	want := optimizer.AdamW{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Decay: 1e-2, Clip: 1}
	if diff := cmp.Diff(want, optimizer.Default()); diff != "" {
		t.Error(diff)
	}
}

func TestZeros(t *testing.T) {
	pairs := []*adapter.Pair{{A: []float32{1, 2, 3}, B: []float32{4}}}
	got := optimizer.Zeros(pairs)
	if diff := cmp.Diff([]*adapter.Pair{{A: make([]float32, 3), B: make([]float32, 1)}}, got); diff != "" {
		t.Error(diff)
	}
	if got[0].A[0] = 9; pairs[0].A[0] != 1 {
		t.Error("zeros share memory with what they are made like")
	}
}
