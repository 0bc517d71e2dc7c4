package adapter

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gemwire/gemwire/gemma4/arch"
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

func (t Target) String() string { return fmt.Sprintf("blk.%d.%s", t.Layer, t.Linear) }

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
	// Base is what the adapter was trained on, where it says so.
	Base string
	// Family is that of the model, which llama.cpp's form names.
	Family arch.Family
	// TextAlone says that the released model has no towers: PEFT's names are shorter then.
	TextAlone bool
}

// Targets lists what the adapter changes, in order.
func (a *Adapter) Targets() []Target {
	return slices.SortedFunc(maps.Keys(a.Pairs), Target.Compare)
}

// Parameters is how many numbers the adapter holds.
func (a *Adapter) Parameters() int64 {
	var n int64
	for _, p := range a.Pairs {
		n += int64(len(p.A)) + int64(len(p.B))
	}
	return n
}

// Check compares the adapter with the model that it is to change.
func (a *Adapter) Check(model *arch.Model) error {
	if len(a.Pairs) == 0 {
		return fmt.Errorf("%w: it changes nothing", ErrFormat)
	}
	for _, t := range a.Targets() {
		if err := a.Pairs[t].check(t, model); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pair) check(t Target, model *arch.Model) error {
	if t.Layer < 0 || t.Layer >= len(model.Layers) {
		return fmt.Errorf("%w: the adapter changes %s, and the model has %d layers; it was trained on another model",
			ErrTarget, t, len(model.Layers))
	}
	w := t.Linear.Tensor(&model.Layers[t.Layer])
	switch {
	case w == nil:
		return fmt.Errorf("%w: the adapter changes %s, which this model's layer does not have; it was trained on "+
			"another model", ErrTarget, t)
	case p.In != w.RowLen() || p.Out != w.Rows():
		return fmt.Errorf("%w: the adapter's %s is [%d, %d], the model's [%d, %d]; it was trained on another model",
			ErrTarget, t, p.Out, p.In, w.Rows(), w.RowLen())
	}
	return nil
}

// checkValues refuses what would turn answers into gibberish without a word.
func (p *Pair) checkValues(t Target) error {
	for _, half := range [][]float32{p.A, p.B, {p.Scale}} {
		for _, v := range half {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("%w: %s holds %v; the training that made it diverged", ErrFormat, t, v)
			}
		}
	}
	return nil
}
