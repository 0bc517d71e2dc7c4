package gpu

import "github.com/gemwire/gemwire/finetune/tape"

// use is an op by its place in the tape.
type use struct{ section, op int }

// uses says of each value who reads it, so that its memory is free afterwards.
type uses struct {
	home    []int  // the section that computes it
	lastUse []use  // on the forward pass; the zero use where there is none
	kept    []bool // other sections read it
	needed  []bool // the way back reads it
	// split is the first section that computes the asked positions alone.
	split int
	// crossing are the values of all positions that sections from split on read
	// row by row, so that they need those of the asked positions.
	crossing []tape.Value
}

func usesOf(t *tape.Tape) uses {
	n := len(t.Values)
	u := uses{home: make([]int, n), lastUse: make([]use, n), kept: make([]bool, n), needed: make([]bool, n)}
	u.split = t.Config.LastKVOwner() + 2 // after what stands before the layers
	crosses := make([]bool, n)
	for i := range t.Sections {
		for _, v := range t.Sections[i].Saved {
			u.kept[v] = true
		}
		for j, op := range t.Sections[i].Ops {
			for _, v := range op.Inputs() {
				u.lastUse[v] = use{i, j}
				if i >= u.split && u.home[v] < u.split && !crosses[v] && !isKeyOf(op, v) {
					crosses[v] = true
					u.crossing = append(u.crossing, v)
				}
			}
			if out := op.Output(); out != tape.None {
				u.home[out] = i
			}
			for _, v := range neededBack(t, op) {
				u.needed[v] = true
			}
		}
	}
	return u
}

// isKeyOf says that an op reads a value at other positions than its own.
func isKeyOf(op tape.Op, v tape.Value) bool {
	a, ok := op.(*tape.Attend)
	return ok && v != a.Q
}

// neededBack lists what an op's way back reads of the forward pass.
func neededBack(t *tape.Tape, op tape.Op) []tape.Value {
	if l, ok := op.(*tape.Loss); ok {
		return []tape.Value{l.X}
	}
	if !t.Shape(op.Output()).Trained {
		return nil
	}
	switch op := op.(type) {
	case *tape.Norm:
		return []tape.Value{op.X}
	case *tape.Linear:
		if op.Slot != nil {
			return []tape.Value{op.X}
		}
	case *tape.Attend:
		return []tape.Value{op.Q, op.K, op.V, op.Out}
	case *tape.Mixture:
		return []tape.Value{op.X, op.H}
	case *tape.Gate:
		return []tape.Value{op.Gate, op.Up}
	}
	return nil
}
