package adapter

import "fmt"

// maxRank is far above any adapter's.
const maxRank = 1 << 14

// halves collects the two matrices of each pair as a file gives them.
type halves map[Target]*Pair

func (h halves) pair(t Target) *Pair {
	if h[t] == nil {
		h[t] = new(Pair)
	}
	return h[t]
}

// add takes one matrix of a shape, the outer dimension first.
func (h halves) add(t Target, half Half, outer, inner int, values func() ([]float32, error)) error {
	p := h.pair(t)
	if half == A && p.A != nil || half == B && p.B != nil {
		return fmt.Errorf("%w: %s of %s is there twice", ErrFormat, half, t)
	}
	rank := inner
	if half == A {
		rank = outer
	}
	if rank < 1 || rank > maxRank || p.Rank != 0 && p.Rank != rank {
		return fmt.Errorf("%w: %s of %s is [%d, %d], which does not go with a rank of %d", ErrFormat, half, t, outer,
			inner, p.Rank)
	}
	p.Rank = rank
	read, err := values()
	if err != nil {
		return err
	}
	if half == A {
		p.A, p.In = read, inner
	} else {
		p.B, p.Out = read, outer
	}
	return nil
}

// whole checks that each pair has both halves, and gives them their scales.
func (h halves) whole(scale func(t Target, rank int) float32) (map[Target]*Pair, error) {
	if len(h) == 0 {
		return nil, fmt.Errorf("%w: it has no pair of matrices for a linear of Gemma 4's text layers", ErrFormat)
	}
	for t, p := range h {
		if p.A == nil || p.B == nil {
			return nil, fmt.Errorf("%w: %s has only one matrix of its pair", ErrFormat, t)
		}
		p.Scale = scale(t, p.Rank)
		if err := p.checkValues(t); err != nil {
			return nil, err
		}
	}
	return h, nil
}
