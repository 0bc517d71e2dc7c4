package adapter

import (
	"context"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// Weighted is an adapter, and how much of it is taken: 1 is what it was trained as.
type Weighted struct {
	*Adapter
	Weight float32
}

// MergeOptions say how Merge writes.
type MergeOptions struct {
	// Type is what changed matrices are written as; nil keeps each one's own.
	// Rounding to few bits loses part of what a small adapter says: quant.Q8_0 or
	// quant.F16 keep it.
	Type *quant.Type
	// Progress, where set, hears how many bytes of the model are written.
	Progress func(done, total int64)
}

// Merge writes a model with adapters added to its weights, W + Σ weight·scale·B·A:
// a file like the model's own, which needs no adapter any more.
func Merge(ctx context.Context, w io.Writer, file *gguf.File, adapters []Weighted, opts MergeOptions) error {
	model, err := arch.Open(file)
	if err != nil {
		return err
	}
	m := &merging{ctx: ctx, out: gguf.NewWriter(w), opts: opts, pairs: map[*gguf.Tensor][]weightedPair{}}
	for _, a := range adapters {
		if err := m.take(model, a); err != nil {
			return err
		}
	}
	return m.write(file)
}

type weightedPair struct {
	*Pair
	factor float32
}

// merging is one Merge.
type merging struct {
	ctx         context.Context
	out         *gguf.Writer
	opts        MergeOptions
	pairs       map[*gguf.Tensor][]weightedPair
	done, total int64
}

func (m *merging) take(model *arch.Model, a Weighted) error {
	if err := a.Check(model); err != nil {
		return err
	}
	for t, p := range a.Pairs {
		tensor := t.Linear.Tensor(&model.Layers[t.Layer])
		m.pairs[tensor] = append(m.pairs[tensor], weightedPair{p, a.Weight * p.Scale})
	}
	return nil
}

func (m *merging) write(file *gguf.File) error {
	if err := m.out.SetAll(file.Meta); err != nil {
		return err
	}
	for _, t := range file.Tensors {
		if err := m.out.Add(gguf.TensorInfo{Name: t.Name, Type: m.typeOf(t), Dims: t.Dims}); err != nil {
			return err
		}
		m.total += t.Size
	}
	for _, t := range file.Tensors {
		if err := m.out.Begin(t.Name); err != nil {
			return err
		}
		if err := m.tensor(t); err != nil {
			return fmt.Errorf("merging %s: %w", t.Name, err)
		}
	}
	return m.out.Close()
}

func (m *merging) typeOf(t *gguf.Tensor) quant.Type {
	if m.opts.Type != nil && m.pairs[t] != nil {
		return *m.opts.Type
	}
	return t.Type
}

// valuesAtATime bounds what is in memory of a tensor.
const valuesAtATime = 1 << 20

func (m *merging) tensor(t *gguf.Tensor) error {
	if m.pairs[t] == nil {
		_, err := m.out.ReadFrom(&counting{m: m, r: t.Section()})
		return err
	}
	cols, rows := t.RowLen(), t.Rows()
	some := max(1, valuesAtATime/cols)
	values := make([]float32, min(some, rows)*cols)
	for first := 0; first < rows; first += some {
		n := min(some, rows-first)
		if err := t.ReadRowsContext(m.ctx, values[:n*cols], first, n); err != nil {
			return err
		}
		for _, p := range m.pairs[t] {
			p.addRows(values[:n*cols], first)
		}
		if err := m.out.WriteRows(values[:n*cols]); err != nil {
			return err
		}
		m.report(t.Size * int64(n) / int64(rows))
	}
	return nil
}

// addRows adds factor·B·A to rows of W from first on.
func (p weightedPair) addRows(values []float32, first int) {
	for i := 0; i*p.In < len(values); i++ {
		row := values[i*p.In : (i+1)*p.In]
		for r, b := range p.B[(first+i)*p.Rank : (first+i+1)*p.Rank] {
			b *= p.factor
			for j, a := range p.A[r*p.In : (r+1)*p.In] {
				row[j] += b * a
			}
		}
	}
}

func (m *merging) report(n int64) {
	m.done += n
	if m.opts.Progress != nil {
		m.opts.Progress(m.done, m.total)
	}
}

// counting reports what is copied, and stops when the context does.
type counting struct {
	m *merging
	r io.Reader
}

func (c *counting) Read(p []byte) (int, error) {
	if err := c.m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.m.report(int64(n))
	return n, err
}
