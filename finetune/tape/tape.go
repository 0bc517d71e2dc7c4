package tape

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4/arch"
)

// Outside is the layer of what belongs to none.
const Outside = -1

// Shape describes a value.
type Shape struct {
	Width   int  // numbers for each position
	Layer   int  // the layer that computes it, or Outside
	Trained bool // something that is trained has an influence on it
}

// Section is a run of ops that are computed together: what stands before the
// layers, a layer, or the head.
type Section struct {
	Layer int // Outside for the first and the last
	Ops   []Op
	// Saved are the values of this section that later ones read. All others may
	// be forgotten after the forward pass and computed again for the backward one.
	Saved []Value
	// Trained says that the backward pass has something to do here.
	Trained bool
}

// Tape is a model with adapters as a list of ops.
type Tape struct {
	Config   *arch.Config
	Model    *arch.Model
	Values   []Shape
	Sections []Section
	Slots    []*Slot
}

// Shape describes v.
func (t *Tape) Shape(v Value) Shape { return t.Values[v] }

// Forward walks the ops in order. before, where given, is called ahead of each
// section.
func (t *Tape) Forward(c Computer, before func(i int) error) error {
	for i := range t.Sections {
		if before != nil {
			if err := before(i); err != nil {
				return err
			}
		}
		if err := t.ForwardSection(c, i); err != nil {
			return err
		}
	}
	return nil
}

// ForwardSection walks the ops of one section.
func (t *Tape) ForwardSection(c Computer, i int) error {
	for _, op := range t.Sections[i].Ops {
		if err := op.Run(c); err != nil {
			return t.fail(i, op, err)
		}
	}
	return nil
}

// Backward walks the ops in reverse, those alone that a gradient passes. before,
// where given, is called ahead of each section that has such ops.
func (t *Tape) Backward(c Computer, before func(i int) error) error {
	for i := len(t.Sections) - 1; i >= 0; i-- {
		if !t.Sections[i].Trained {
			continue
		}
		if before != nil {
			if err := before(i); err != nil {
				return err
			}
		}
		if err := t.BackwardSection(c, i); err != nil {
			return err
		}
	}
	return nil
}

// BackwardSection walks the ops of one section in reverse.
func (t *Tape) BackwardSection(c Computer, i int) error {
	ops := t.Sections[i].Ops
	for j := len(ops) - 1; j >= 0; j-- {
		if !t.passes(ops[j]) {
			continue
		}
		if err := ops[j].Run(c); err != nil {
			return t.fail(i, ops[j], err)
		}
	}
	return nil
}

// passes says whether a gradient passes through an op.
func (t *Tape) passes(op Op) bool {
	if out := op.Output(); out != None {
		return t.Values[out].Trained
	}
	return t.anyTrained(op.Inputs())
}

func (t *Tape) anyTrained(values []Value) bool {
	for _, v := range values {
		if t.Values[v].Trained {
			return true
		}
	}
	return false
}

func (t *Tape) fail(section int, op Op, err error) error {
	if layer := t.Sections[section].Layer; layer != Outside {
		return fmt.Errorf("layer %d, %T: %w", layer, op, err)
	}
	return fmt.Errorf("%T: %w", op, err)
}

// begin starts a section.
func (t *Tape) begin(layer int) {
	t.Sections = append(t.Sections, Section{Layer: layer})
}

// value makes a name for what the next op gives.
func (t *Tape) value(width int) Value {
	t.Values = append(t.Values, Shape{Width: width, Layer: t.section().Layer})
	return Value(len(t.Values) - 1)
}

func (t *Tape) section() *Section { return &t.Sections[len(t.Sections)-1] }

// do appends an op and returns what it gives.
func (t *Tape) do(op Op) Value {
	s := t.section()
	s.Ops = append(s.Ops, op)
	out := op.Output()
	if out != None {
		t.Values[out].Trained = op.Adapts() != nil || t.anyTrained(op.Inputs())
	}
	if t.passes(op) {
		s.Trained = true
	}
	return out
}

// keep finds the values that sections other than their own read.
func (t *Tape) keep() {
	home := make([]int, len(t.Values))
	kept := make([]bool, len(t.Values))
	for i := range t.Sections {
		for _, op := range t.Sections[i].Ops {
			for _, v := range op.Inputs() {
				if home[v] != i && !kept[v] {
					kept[v] = true
					t.Sections[home[v]].Saved = append(t.Sections[home[v]].Saved, v)
				}
			}
			if out := op.Output(); out != None {
				home[out] = i
			}
		}
	}
}

// Widths is how many numbers a position takes at most while a batch goes there
// and back: values and their gradients. Where values inside a layer are computed
// again, that is what is kept of all layers and the whole of the widest.
func (t *Tape) Widths(recompute bool) int64 {
	var all, kept, widest int64
	for i := range t.Sections {
		var inside int64
		s := &t.Sections[i]
		for _, op := range s.Ops {
			if out := op.Output(); out != None {
				inside += t.cost(out)
			}
		}
		for _, v := range s.Saved {
			kept += t.cost(v)
		}
		all += inside
		widest = max(widest, inside)
	}
	if recompute {
		return kept + widest
	}
	return all
}

func (t *Tape) cost(v Value) int64 {
	w := int64(t.Values[v].Width)
	if t.Values[v].Trained {
		w *= 2
	}
	return w
}
