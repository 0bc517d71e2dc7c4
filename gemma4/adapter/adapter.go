package adapter

import (
	"cmp"
	"maps"
	"slices"
)

// Target is one linear of one layer.
type Target struct {
	Layer  int
	Linear Linear
}

// Compare orders targets by layer, then by linear.
func (t Target) Compare(u Target) int {
	return cmp.Or(cmp.Compare(t.Layer, u.Layer), cmp.Compare(t.Linear, u.Linear))
}

// Pair is what an adapter adds to one linear: y += Scale·B·(A·x).
type Pair struct {
	Rank, In, Out int
	Scale         float32   // alpha / rank
	A             []float32 // [Rank, In]
	B             []float32 // [Out, Rank]
}

// Adapter is a set of pairs.
type Adapter struct {
	Pairs map[Target]*Pair
}

// Targets lists what the adapter changes, in order.
func (a *Adapter) Targets() []Target {
	return slices.SortedFunc(maps.Keys(a.Pairs), Target.Compare)
}
