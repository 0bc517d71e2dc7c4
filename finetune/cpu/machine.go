package cpu

import (
	"context"
	"fmt"
	"sync"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	base "github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gguf"
)

// Machine computes one tape. It may be used by one goroutine at a time and has
// to be closed.
type Machine struct {
	tape  *tape.Tape
	cores *base.Cores
	// matrix is a tensor as rows of weights.
	matrix func(*gguf.Tensor) base.Matrix
	// Recompute says that values inside a layer are forgotten after the forward
	// pass and computed again for the backward one.
	Recompute bool

	mu      sync.Mutex
	vectors map[*gguf.Tensor][]float32
}

// New makes a machine for a tape, with so many goroutines; 0 means as many as Go
// may use. The file of the tape's model has to stay open meanwhile.
func New(t *tape.Tape, threads int) *Machine {
	matrix := func(t *gguf.Tensor) base.Matrix { return base.NewMatrix(t, 0) }
	return &Machine{tape: t, cores: base.NewCores(threads), matrix: matrix, vectors: map[*gguf.Tensor][]float32{}}
}

// Over makes a machine for a tape of an open model's, with its goroutines and what
// it has of the weights in memory. The model has to stay open meanwhile.
func Over(t *tape.Tape, model *base.Model) *Machine {
	return &Machine{tape: t, cores: model.Cores(), matrix: model.Matrix, vectors: map[*gguf.Tensor][]float32{}}
}

// Close ends the goroutines that are the machine's own.
func (m *Machine) Close() { m.cores.Close() }

// Loss is the sum over the batch's targets of −log p(target). pairs are the
// adapter's, by slot.
func (m *Machine) Loss(ctx context.Context, batch *tape.Batch, pairs []*adapter.Pair) (float64, error) {
	p, err := m.newPass(ctx, batch, pairs)
	if err != nil {
		return 0, err
	}
	err = p.forward(false)
	return p.loss, err
}

// Gradients adds to grads, by slot, weight times the gradient of the loss of a
// batch, and returns the loss as Loss does.
func (m *Machine) Gradients(ctx context.Context, batch *tape.Batch, pairs, grads []*adapter.Pair,
	weight float64) (float64, error) {
	p, err := m.newPass(ctx, batch, pairs)
	if err != nil {
		return 0, err
	}
	if len(grads) != len(m.tape.Slots) {
		return 0, fmt.Errorf("%w: %d gradients for %d slots", tape.ErrBatch, len(grads), len(m.tape.Slots))
	}
	p.grads, p.weight = grads, weight
	if err := p.forward(true); err != nil {
		return 0, err
	}
	return p.loss, p.backward()
}

// Logits are those of every position, after the softcap, [positions, vocab].
func (m *Machine) Logits(ctx context.Context, batch *tape.Batch, pairs []*adapter.Pair) ([]float32, error) {
	p, err := m.newPass(ctx, batch, pairs)
	if err != nil {
		return nil, err
	}
	p.logits = make([]float32, batch.Len()*m.tape.Config.Vocab)
	return p.logits, p.forward(false)
}

// vector reads a norm's weights, once.
func (m *Machine) vector(t *gguf.Tensor) ([]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.vectors[t]; ok {
		return v, nil
	}
	v := make([]float32, t.Elements())
	if err := t.ReadRows(v, 0, t.Rows()); err != nil {
		return nil, err
	}
	m.vectors[t] = v
	return v, nil
}
