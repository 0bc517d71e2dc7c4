package gpu

import (
	"context"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// releaser is anything on the device that a tower holds.
type releaser interface{ Release() }

// loader uploads tensors. The first error sticks, so that loading reads as a list.
type loader struct {
	ctx     context.Context
	kit     *ops.Kit
	uploads *ops.Uploads
	owned   []releaser
	err     error
}

func (l *loader) keep(err error) {
	if l.err == nil {
		l.err = err
	}
}

// finish ends the uploads.
func (l *loader) finish() error {
	l.keep(l.uploads.End())
	return l.err
}

func (l *loader) release() {
	for _, h := range l.owned {
		h.Release()
	}
	l.owned = nil
}

// floats reads a whole small tensor; nil stays nil.
func (l *loader) floats(t *gguf.Tensor) []float32 {
	if t == nil || l.err != nil {
		return nil
	}
	values := make([]float32, t.Elements())
	l.keep(t.ReadRowsContext(l.ctx, values, 0, t.Rows()))
	return values
}

// upload puts values on the device; nil stays nil.
func (l *loader) upload(label string, values []float32) *wgslkit.Buffer {
	if values == nil || l.err != nil {
		return nil
	}
	b, err := l.kit.Vector(label, wgslkit.Weights, values)
	if err != nil {
		l.keep(fmt.Errorf("loading %s: %w", label, err))
		return nil
	}
	l.owned = append(l.owned, b)
	return b
}

func (l *loader) vector(t *gguf.Tensor) *wgslkit.Buffer { return l.scaled(t, 1) }

// scaled is a vector times a factor.
func (l *loader) scaled(t *gguf.Tensor, factor float32) *wgslkit.Buffer {
	values := l.floats(t)
	if values == nil || l.err != nil {
		return nil
	}
	for i := range values {
		values[i] *= factor
	}
	return l.upload(t.Name, values)
}

func (l *loader) matrix(layout ops.Layout, sources ...ops.Source) *ops.Matrix {
	if l.err != nil {
		return nil
	}
	m, err := l.uploads.Matrix(sources[0].Name, layout, sources)
	if err == nil {
		l.owned = append(l.owned, m)
		err = l.uploads.Run(l.ctx, nil)
	}
	if err != nil {
		l.keep(fmt.Errorf("loading %s: %w", sources[0].Name, err))
		return nil
	}
	return m
}

// sourceOf reads a tensor's rows where they lie in the file.
func sourceOf(t *gguf.Tensor) ops.Source {
	return ops.Source{Name: t.Name, Type: t.Type, Rows: t.Rows(), Cols: t.RowLen(), Data: t.Source(), Offset: t.Offset}
}

// product is one matrix of one or several linears that read the same input. Its
// outputs start at offset of a wider row.
type product struct {
	w      *ops.Matrix
	bounds *ops.Bounds // nil for none
	offset int
}

// clipped is a linear with its bounds at hand.
type clipped struct {
	*arch.Linear
	clamp arch.Clamp
	bias  []float32
}

func (l *loader) clipped(a *arch.Linear) clipped {
	c := clipped{Linear: a, clamp: arch.NoClamp(), bias: l.floats(a.Bias)}
	if a.Clipped() && l.err == nil {
		var err error
		c.clamp, err = a.Clamp(l.ctx)
		l.keep(err)
	}
	return c
}

// joins says whether two linears can be one product: what goes in is the same.
func (c clipped) joins(o clipped) bool {
	return c.Weight.Type == o.Weight.Type && c.clamp.InMin == o.clamp.InMin && c.clamp.InMax == o.clamp.InMax
}

// bounded says whether anything but W·x happens.
func (c clipped) bounded() bool { return c.clamp.ClipsIn() || c.clamp.ClipsOut() || c.bias != nil }

// product uploads linears as one matrix.
func (l *loader) product(layout ops.Layout, list ...clipped) product {
	sources := make([]ops.Source, len(list))
	for i, c := range list {
		sources[i] = sourceOf(c.Weight)
	}
	return l.productOf(layout, sources, list...)
}

// productOf is product for linears whose rows are those of sources.
func (l *loader) productOf(layout ops.Layout, sources []ops.Source, list ...clipped) product {
	rows := make([]ops.RowBounds, len(list))
	bounded := false
	for i, c := range list {
		rows[i] = ops.RowBounds{Rows: sources[i].Rows, Low: c.clamp.OutMin, High: c.clamp.OutMax, Bias: c.bias}
		bounded = bounded || c.bounded()
	}
	p := product{w: l.matrix(layout, sources...)}
	if bounded && l.err == nil {
		b, err := l.kit.NewBounds(sources[0].Name+" bounds", layout, list[0].clamp.InMin, list[0].clamp.InMax, rows...)
		if err != nil {
			l.keep(err)
			return p
		}
		p.bounds = b
		l.owned = append(l.owned, b)
	}
	return p
}

func (l *loader) linear(a *arch.Linear) product { return l.product(ops.Stacked, l.clipped(a)) }

// stacked uploads linears whose outputs stand side by side in one row, in as few
// products as their types and bounds allow.
func (l *loader) stacked(linears ...*arch.Linear) []product {
	var list []product
	var run []clipped
	start, width := 0, 0
	flush := func() {
		p := l.product(ops.Stacked, run...)
		p.offset = start
		list = append(list, p)
		run, start = nil, width
	}
	for _, a := range linears {
		c := l.clipped(a)
		if len(run) > 0 && !run[0].joins(c) {
			flush()
		}
		run = append(run, c)
		width += a.Weight.Rows()
	}
	flush()
	return list
}

// gated is a gate and what it gates: one product of both, or one of each.
type gated struct{ both, gate, up product }

func (l *loader) gated(gate, up *arch.Linear) gated {
	g, u := l.clipped(gate), l.clipped(up)
	if g.joins(u) {
		return gated{both: l.product(ops.Paired, g, u)}
	}
	return gated{gate: l.product(ops.Stacked, g), up: l.product(ops.Stacked, u)}
}

func (l *loader) rope(theta float64, dim int) *ops.Rope {
	if l.err != nil {
		return nil
	}
	r, err := l.kit.NewRope("rotation", theta, dim, nil)
	if err != nil {
		l.keep(err)
		return nil
	}
	l.owned = append(l.owned, r)
	return r
}

// memory is a source of bytes that were made here.
type memory []byte

// ReadAt implements io.ReaderAt.
func (m memory) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
