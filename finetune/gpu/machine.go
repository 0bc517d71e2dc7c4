package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"

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
	experts map[string]*ops.Matrix // of mixtures, by tensor

	// Recompute says that what a layer computes on its way is computed again for
	// the way back instead of kept. Where a device has not the room to keep it,
	// as many layers as must be are computed again without.
	Recompute bool
	// Precision says how values wait for the way back.
	Precision Precision
	// Budget is the bytes that training may take, 0 for as many as the device has.
	Budget int64

	lossBytes int64 // what logits may take
	limit     int64 // bytes of one buffer; less than the device's in tests alone
	pieceRows int   // pool.rows, in tests alone
	widest    int   // values of the widest row of a pass

	pairs *pairs
	mover *mover
	plan  *plan
}

// New makes a machine for a tape of the model's.
func New(t *tape.Tape, model *gemma4.Model) (*Machine, error) {
	return newMachine(t, model, model.Kit())
}

func newMachine(t *tape.Tape, model *gemma4.Model, kit *ops.Kit) (*Machine, error) {
	m := &Machine{
		tape: t, weights: model.GPUWeights(), kit: kit, uses: usesOf(t), lossBytes: mostLossBytes,
		groups: map[*tape.Linear]*group{}, groupOf: map[tape.Value]*group{}, experts: map[string]*ops.Matrix{},
	}
	if m.weights == nil {
		return nil, fmt.Errorf("%w: the model is not on a GPU", ErrUnsupported)
	}
	limits := m.kit.Device().Limits()
	m.limit = min(limits.MaxStorageBindingSize, limits.MaxBufferSize)
	if err := m.expertsOf(); err != nil {
		return nil, err
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
	if err := m.forward(ctx, batch, 0); err != nil {
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
		return 0, errors.Join(err, m.Forget())
	}
	return loss, nil
}

func (m *Machine) gradients(ctx context.Context, batch *tape.Batch, weight float64) (float64, error) {
	if err := m.forward(ctx, batch, weight); err != nil {
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

// Forget drops what has gathered since the last Step.
func (m *Machine) Forget() error {
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

// forward submits all that comes before the head.
func (m *Machine) forward(ctx context.Context, batch *tape.Batch, weight float64) error {
	if err := batch.Check(m.tape.Config); err != nil {
		return err
	}
	if err := m.planFor(batch); err != nil {
		return err
	}
	if err := m.plan.inputs.write(batch, m.tape.Config.SlidingWindow, weight); err != nil {
		return err
	}
	if err := m.plan.forward.submit(ctx, batch.Len()); err != nil {
		return err
	}
	return m.plan.forwardAsked.submit(ctx, len(batch.Asked))
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
	s := sizeOf(batch)
	if p := m.plan; p != nil {
		if p.holds(s) {
			return nil
		}
		s = s.with(p.size)
	}
	m.plan.release()
	m.plan = nil
	a, err := m.arrangementFor(s)
	if err != nil {
		return err
	}
	for {
		plan, err := m.newPlan(s, a)
		if err == nil {
			m.plan = plan
			return nil
		}
		if !errors.Is(err, wgslkit.ErrOutOfMemory) || a.recompute == m.layers() {
			return fmt.Errorf("a batch of %d tokens: %w; take batches of fewer", batch.Len(), err)
		}
		// Others use the device too, or it has less than it was said to have.
		a = m.next(a)
	}
}

func (m *Machine) layers() int { return m.tape.Config.Blocks }

// Precision says how values wait for the way back; they are computed in float32.
type Precision string

// The precisions.
const (
	AutoPrecision Precision = ""    // as halves where memory is short
	Float32       Precision = "f32" // as they are
	Float16       Precision = "f16" // as halves, each position with a factor of its own
)

// arrangementFor is the cheapest by which a batch fits what the device may use:
// values in float32, as halves, and then as many layers computed again as must be.
func (m *Machine) arrangementFor(s size) (arrangement, error) {
	a := arrangement{halves: m.Precision == Float16}
	if m.Recompute {
		a.recompute = m.layers()
		return a, nil
	}
	room, bounded := m.room()
	if !bounded {
		return a, nil
	}
	for {
		bytes, err := m.planned(s, a)
		if err != nil || bytes <= room || a.recompute == m.layers() {
			return a, err
		}
		a = m.next(a)
	}
}

// roomToRead is what plans leave of the device's budget, to read losses and the adapter.
const roomToRead = 2 * leastReadChunk

// room is the bytes that a plan may take in place of the one at hand, if there is a
// bound.
func (m *Machine) room() (bytes int64, bounded bool) {
	bytes = math.MaxInt64
	if own := m.Budget; own > 0 {
		bytes = own - m.pairs.bytes()
	}
	if budget := m.kit.Device().Budget(); budget > 0 {
		for _, n := range m.kit.Device().Memory() {
			budget -= n
		}
		budget -= roomToRead
		if m.plan != nil {
			budget += m.plan.bytes
		}
		bytes = min(bytes, budget)
	}
	return bytes, bytes != math.MaxInt64
}

// next is an arrangement that takes less memory and more time.
func (m *Machine) next(a arrangement) arrangement {
	if !a.halves && m.Precision == AutoPrecision {
		a.halves = true
		return a
	}
	a.recompute = min(m.layers(), a.recompute+1)
	return a
}

// Plan says what batches of so many tokens take.
type Plan struct {
	Bytes      int64 // adapter, optimizer, values, and what products need for themselves
	Recomputed int   // layers that are computed again for the way back
	Halves     bool  // values wait for it as halves
}

// PlanFor plans for batches of so many tokens that are all asked for.
func (m *Machine) PlanFor(tokens int) (Plan, error) {
	s := size{tokens: rowsFor(tokens), asked: rowsFor(tokens), shares: 1}
	a, err := m.arrangementFor(s)
	if err != nil {
		return Plan{}, err
	}
	bytes, err := m.planned(s, a)
	bytes += m.pairs.bytes()
	return Plan{Bytes: bytes, Recomputed: a.recompute, Halves: a.halves}, err
}
