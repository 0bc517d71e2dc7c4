package gpu

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// mover is the optimizer's program.
type mover struct {
	steps    int
	state    *wgslkit.Buffer
	settings *wgslkit.Buffer
	length   *wgslkit.Buffer
	program  *ops.Recording
}

func (m *Machine) newMover() (_ *mover, err error) {
	v := new(mover)
	defer func() {
		if err != nil {
			v.release()
		}
	}()
	for _, b := range []struct {
		into  **wgslkit.Buffer
		words int
	}{{&v.state, ops.StateWords}, {&v.settings, 9}, {&v.length, 1}} {
		if *b.into, err = m.kit.Device().NewBuffer("optimizer", wgslkit.Activations, int64(4*b.words)); err != nil {
			return nil, err
		}
	}
	var runs []ops.Moved
	for _, b := range m.pairs.banks {
		runs = append(runs, ops.Moved{Values: b.buffers[values], Grads: b.buffers[grads], First: b.buffers[firsts],
			Second: b.buffers[seconds]})
	}
	r := m.kit.Record("optimizer", 1, v.state)
	r.AdamW(ops.AdamW{Label: "AdamW", Runs: runs, Settings: v.settings, Length: v.length})
	if v.program, err = r.Finish(); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *mover) release() {
	if v == nil {
		return
	}
	v.program.Release()
	for _, b := range []*wgslkit.Buffer{v.state, v.settings, v.length} {
		b.Release()
	}
}

// Step moves the adapter along what has gathered, which it then forgets, and
// returns the gradients' length. Where that is no number, nothing is moved.
func (m *Machine) Step(ctx context.Context, o optimizer.AdamW, rate float64) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if m.mover == nil {
		return 0, fmt.Errorf("%w: no adapter was written", tape.ErrBatch)
	}
	v := m.mover
	if err := v.settings.Write(0, floatBytes(settings(o.Numbers(v.steps+1, rate)))); err != nil {
		return 0, err
	}
	if err := v.program.Submit(1); err != nil {
		return 0, err
	}
	found, err := v.length.ReadFloats(1)
	if err != nil {
		return 0, err
	}
	length := float64(found[0])
	if !math.IsNaN(length) && !math.IsInf(length, 0) {
		v.steps++
	}
	return length, nil
}

func settings(n optimizer.Numbers) []float32 {
	s := []float64{n.Beta1, 1 - n.Beta1, n.Beta2, 1 - n.Beta2, n.Epsilon, n.Keep, n.Rate, n.Correction, n.Clip}
	out := make([]float32, len(s))
	for i, v := range s {
		out[i] = float32(v)
	}
	return out
}

// Write puts the adapter, by slot, and what the optimizer remembers on the GPU,
// and forgets what has gathered.
func (m *Machine) Write(_ context.Context, list []*adapter.Pair, s *optimizer.State) error {
	if !m.pairs.fits(list) {
		m.Close()
		p, err := m.newPairs(list)
		if err != nil {
			return err
		}
		m.pairs = p
		if err = m.measureWidest(); err != nil {
			return err
		}
		if m.mover, err = m.newMover(); err != nil {
			return err
		}
	}
	for _, w := range []struct {
		role role
		list []*adapter.Pair
	}{{values, list}, {firsts, s.First}, {seconds, s.Second}} {
		if err := m.pairs.write(w.role, w.list); err != nil {
			return err
		}
	}
	m.mover.steps = s.Steps
	return m.Forget()
}

// Read copies the adapter, by slot, and what the optimizer remembers.
func (m *Machine) Read(context.Context) ([]*adapter.Pair, *optimizer.State, error) {
	if m.pairs == nil {
		return nil, nil, fmt.Errorf("%w: no adapter was written", tape.ErrBatch)
	}
	var lists [roles][]*adapter.Pair
	for _, r := range []role{values, firsts, seconds} {
		list, err := m.pairs.read(r, m.kit.Device())
		if err != nil {
			return nil, nil, err
		}
		lists[r] = list
	}
	return lists[values], &optimizer.State{Steps: m.mover.steps, First: lists[firsts], Second: lists[seconds]}, nil
}
