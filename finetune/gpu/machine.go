package gpu

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Machine trains one tape over the weights of an open model. It may be used by one
// goroutine at a time and has to be closed, the model after it.
type Machine struct {
	tape    *tape.Tape
	weights *gemma4.GPUWeights
	kit     *ops.Kit
	uses
	groups  map[*tape.Linear]*group
	groupOf map[tape.Value]*group

	// Recompute says that what a layer computes on its way is computed again for
	// the way back instead of kept. Where a device has not the room to keep it,
	// as many layers as must be are computed again without.
	Recompute bool

	pairs *pairs
	mover *mover
	plan  *plan
}

// New makes a machine for a tape of the model's.
func New(t *tape.Tape, model *gemma4.Model) (*Machine, error) {
	m := &Machine{
		tape: t, weights: model.GPUWeights(), kit: model.Kit(), uses: usesOf(t),
		groups: map[*tape.Linear]*group{}, groupOf: map[tape.Value]*group{},
	}
	if m.weights == nil {
		return nil, fmt.Errorf("%w: the model is not on a GPU", ErrUnsupported)
	}
	for i := range t.Sections {
		for _, op := range t.Sections[i].Ops {
			if _, ok := op.(*tape.Mixture); ok {
				return nil, errMixture
			}
		}
	}
	return m, m.groupsOf()
}

// Close frees all that the machine has on the GPU.
func (m *Machine) Close() {
	m.plan.release()
	m.mover.release()
	m.pairs.release()
	m.plan, m.mover, m.pairs = nil, nil, nil
}

// Loss is the sum over the batch's targets of −log p(target).
func (m *Machine) Loss(ctx context.Context, batch *tape.Batch) (float64, error) {
	if len(batch.Asked) == 0 {
		return 0, nil
	}
	if err := m.ahead(ctx, batch, 0); err != nil {
		return 0, err
	}
	losses, err := m.head(ctx, batch, false)
	if err != nil {
		return 0, err
	}
	return m.read(losses)
}

// Gradients adds weight times the gradient of a batch's loss to what has gathered
// since the last Step, and returns the loss as Loss does. On an error all that has
// gathered is forgotten.
func (m *Machine) Gradients(ctx context.Context, batch *tape.Batch, weight float64) (float64, error) {
	if len(batch.Asked) == 0 {
		return 0, nil
	}
	loss, err := m.gradients(ctx, batch, weight)
	if err != nil {
		return 0, errors.Join(err, m.forget())
	}
	return loss, nil
}

func (m *Machine) gradients(ctx context.Context, batch *tape.Batch, weight float64) (float64, error) {
	if err := m.ahead(ctx, batch, weight); err != nil {
		return 0, err
	}
	losses, err := m.head(ctx, batch, true)
	if err != nil {
		return 0, err
	}
	err = m.plan.backAsked.submit(ctx, len(batch.Asked))
	if err == nil {
		err = m.plan.back.submit(ctx, batch.Len())
	}
	if err != nil {
		losses.Discard()
		return 0, err
	}
	return m.read(losses)
}

func (m *Machine) forget() error {
	if m.pairs == nil {
		return nil
	}
	return m.pairs.clear(grads)
}

// read waits for a batch's losses.
func (m *Machine) read(losses *wgslkit.Readback) (float64, error) {
	raw := make([]byte, losses.Size())
	if err := losses.Bytes(raw); err != nil {
		return 0, err
	}
	return sum(raw), nil
}

// ahead submits all that comes before the head.
func (m *Machine) ahead(ctx context.Context, batch *tape.Batch, weight float64) error {
	if err := m.check(batch); err != nil {
		return err
	}
	if err := m.planFor(batch); err != nil {
		return err
	}
	if err := m.plan.inputs.write(batch, m.tape.Config.SlidingWindow, weight); err != nil {
		return err
	}
	if err := m.plan.ahead.submit(ctx, batch.Len()); err != nil {
		return err
	}
	return m.plan.aheadAsked.submit(ctx, len(batch.Asked))
}

// head submits the loss of all asked positions, with its gradient where wanted,
// and begins to read it.
func (m *Machine) head(ctx context.Context, batch *tape.Batch, back bool) (*wgslkit.Readback, error) {
	p := m.plan
	asked := len(batch.Asked)
	for first := 0; first < asked; first += p.lossPart {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(p.lossPart, asked-first)
		if err := p.inputs.part.Write(0, wordBytes(state(first, n))); err != nil {
			return nil, err
		}
		end := p.loss.ends[0]
		if back {
			end = p.loss.ends[1]
		}
		if err := p.loss.SubmitPart(n, 0, end); err != nil {
			return nil, err
		}
	}
	return p.inputs.losses.StartRead(0, int64(4*asked))
}

// planFor makes a plan for the batch, where the one at hand is too small.
func (m *Machine) planFor(batch *tape.Batch) error {
	if m.pairs == nil {
		return fmt.Errorf("%w: no adapter was written", tape.ErrBatch)
	}
	tokens, asked := rowsFor(batch.Len()), rowsFor(len(batch.Asked))
	if p := m.plan; p != nil {
		if tokens <= p.tokens && asked <= p.asked {
			return nil
		}
		tokens, asked = max(tokens, p.tokens), max(asked, p.asked)
	}
	m.plan.release()
	m.plan = nil
	recompute, err := m.recomputeFor(tokens, asked)
	if err != nil {
		return err
	}
	for {
		plan, err := m.newPlan(tokens, asked, recompute)
		if err == nil {
			m.plan = plan
			return nil
		}
		if !errors.Is(err, wgslkit.ErrOutOfMemory) || recompute == m.layers() {
			return fmt.Errorf("a batch of %d tokens: %w; take batches of fewer", batch.Len(), err)
		}
		// What products need for themselves is not planned.
		recompute = min(m.layers(), recompute+1+m.layers()/8)
	}
}

func (m *Machine) layers() int { return m.tape.Config.Blocks }

// recomputeFor is the fewest layers that have to be computed again for a batch to
// fit what the device may use.
func (m *Machine) recomputeFor(tokens, asked int) (int, error) {
	if m.Recompute {
		return m.layers(), nil
	}
	budget := m.kit.Device().Budget()
	if budget == 0 {
		return 0, nil
	}
	for _, n := range m.kit.Device().Memory() {
		budget -= n
	}
	for n := 0; ; n++ {
		bytes, err := m.planned(tokens, asked, n)
		if err != nil || bytes <= budget || n == m.layers() {
			return n, err
		}
	}
}

// Plan says what batches of so many tokens take.
type Plan struct {
	Bytes      int64 // adapter, optimizer and values; without what products need for themselves
	Recomputed int   // layers that are computed again for the way back
}

// PlanFor plans for batches of so many tokens that are all asked for.
func (m *Machine) PlanFor(tokens int) (Plan, error) {
	rows := rowsFor(tokens)
	n, err := m.recomputeFor(rows, rows)
	if err != nil {
		return Plan{}, err
	}
	bytes, err := m.planned(rows, rows, n)
	if m.pairs != nil {
		bytes += m.pairs.bytes()
	}
	return Plan{Bytes: bytes, Recomputed: n}, err
}
