// Package optimizer moves the matrices of an adapter along their gradients:
// AdamW with the gradients clipped by their global length.
package optimizer

import (
	"math"

	"github.com/gemwire/gemwire/gemma4/adapter"
)

// AdamW holds the settings of the algorithm (Loshchilov and Hutter, "Decoupled
// Weight Decay Regularization").
type AdamW struct {
	Beta1, Beta2 float64
	Epsilon      float64
	Decay        float64 // weight decay, apart from the gradient
	// Clip bounds the gradient's global L2 length; 0 means not at all.
	Clip float64
}

// Default is what PyTorch takes where nothing is said, with clipping to 1.
func Default() AdamW {
	return AdamW{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Decay: 0.01, Clip: 1}
}

// State is what the algorithm remembers between steps.
type State struct {
	Steps  int
	First  []*adapter.Pair // running means of the gradients
	Second []*adapter.Pair // and of their squares
}

// NewState is the state before the first step.
func NewState(pairs []*adapter.Pair) *State {
	return &State{First: Zeros(pairs), Second: Zeros(pairs)}
}

// Zeros are pairs of the same shapes, all zero.
func Zeros(pairs []*adapter.Pair) []*adapter.Pair {
	zeros := make([]*adapter.Pair, len(pairs))
	for i, p := range pairs {
		z := *p
		z.A, z.B = make([]float32, len(p.A)), make([]float32, len(p.B))
		zeros[i] = &z
	}
	return zeros
}

// Length is the global L2 length of the gradients.
func Length(grads []*adapter.Pair) float64 {
	var sum float64
	for _, g := range grads {
		for _, half := range [][]float32{g.A, g.B} {
			for _, v := range half {
				sum += float64(v) * float64(v)
			}
		}
	}
	return math.Sqrt(sum)
}

// Step moves pairs at a learning rate and returns the length that the gradients
// had before they were clipped.
func (o AdamW) Step(s *State, pairs, grads []*adapter.Pair, rate float64) float64 {
	length := Length(grads)
	s.Steps++
	n, factor := o.Numbers(s.Steps, rate), o.Factor(length)
	for i, p := range pairs {
		n.apply(p.A, grads[i].A, s.First[i].A, s.Second[i].A, factor)
		n.apply(p.B, grads[i].B, s.First[i].B, s.Second[i].B, factor)
	}
	return length
}

// Factor is what clipping multiplies gradients of a length by. The 1e-6 is
// PyTorch's.
func (o AdamW) Factor(length float64) float64 {
	if o.Clip == 0 {
		return 1
	}
	return min(1, o.Clip/(length+1e-6))
}

// Numbers are one step's, worked out.
type Numbers struct {
	Beta1, Beta2, Epsilon float64
	Keep                  float64 // what weight decay leaves of a value
	Rate                  float64 // with the first mean's correction
	Correction            float64 // √ of the second's
	Clip                  float64
}

// Numbers are those of a step, counted from 1, at a learning rate.
func (o AdamW) Numbers(step int, rate float64) Numbers {
	return Numbers{
		Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, Clip: o.Clip,
		Keep:       1 - rate*o.Decay,
		Rate:       rate / (1 - math.Pow(o.Beta1, float64(step))),
		Correction: math.Sqrt(1 - math.Pow(o.Beta2, float64(step))),
	}
}

// apply moves values along gradients that clipping has multiplied by a factor.
func (n Numbers) apply(values, grads, first, second []float32, factor float64) {
	for i, g := range grads {
		g := float64(g) * factor
		mean := n.Beta1*float64(first[i]) + (1-n.Beta1)*g
		square := n.Beta2*float64(second[i]) + (1-n.Beta2)*g*g
		first[i], second[i] = float32(mean), float32(square)
		values[i] = float32(float64(values[i])*n.Keep - n.Rate*mean/(math.Sqrt(square)/n.Correction+n.Epsilon))
	}
}
