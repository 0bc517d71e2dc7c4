package cpu

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// linear is y = clamp(W·clamp(x)) + bias.
type linear struct {
	w     cpu.Matrix
	bias  []float32 // nil for none
	clamp arch.Clamp
}

// apply computes n outputs, y [n, out], of x [n, in]. x stays as it is.
func (l *linear) apply(cores *cpu.Cores, n int, x, y []float32) error {
	if l.clamp.ClipsIn() {
		clipped := make([]float32, n*l.w.Cols())
		copy(clipped, x)
		clip(clipped, l.clamp.InMin, l.clamp.InMax)
		x = clipped
	}
	if err := cores.Mul(n, l.w, x, y); err != nil {
		return err
	}
	if l.clamp.ClipsOut() {
		clip(y[:n*l.w.Rows()], l.clamp.OutMin, l.clamp.OutMax)
	}
	for i := 0; i < n && l.bias != nil; i++ {
		cpu.Add(y[i*len(l.bias):], l.bias)
	}
	return nil
}

// clip is x = min(max(x, low), high).
func clip(x []float32, low, high float32) {
	for i, v := range x {
		x[i] = min(max(v, low), high)
	}
}

// reader reads the small tensors of a tower and keeps the first error.
type reader struct {
	ctx context.Context
	err error
}

// vector reads a norm or another small tensor as a whole; nil stays nil.
func (r *reader) vector(t *gguf.Tensor) []float32 {
	if t == nil || r.err != nil {
		return nil
	}
	if r.err = r.ctx.Err(); r.err != nil {
		return nil
	}
	values := make([]float32, t.Elements())
	r.err = t.ReadRowsContext(r.ctx, values, 0, t.Rows())
	return values
}

func (r *reader) linear(a *arch.Linear) linear {
	l := linear{w: cpu.NewMatrix(a.Weight, 0), bias: r.vector(a.Bias), clamp: arch.NoClamp()}
	if a.Clipped() && r.err == nil {
		l.clamp, r.err = a.Clamp(r.ctx)
	}
	return l
}
