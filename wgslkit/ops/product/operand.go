package product

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// operand is a product that was checked and completed: all that a kernel is recorded
// with. What is made of the input before it is made; nothing is asked again.
type operand struct {
	Linear
	params  Params
	inOrder bool            // every row in W's own order, of a Paired matrix too
	factors *wgslkit.Buffer // of float16 inputs, one for each token; nil where they are float32
}

// newOperand checks o and gives it the strides that 0 stands for.
func newOperand(o Linear, width int, inOrder bool) (*operand, error) {
	if err := o.check(width, inOrder); err != nil {
		return nil, err
	}
	outputs := o.W.Outputs(o.Gated)
	o.In.Stride = record.OrInt(o.In.Stride, o.W.Cols)
	o.OutStride, o.MulStride = record.OrInt(o.OutStride, outputs), record.OrInt(o.MulStride, outputs)
	return &operand{Linear: o, params: paramsOf(o), inOrder: inOrder}, nil
}

func (o Linear) check(width int, inOrder bool) error {
	switch {
	case o.W == nil || len(o.W.Tiles) == 0:
		return fmt.Errorf("%w: matrix", wgslkit.ErrReleased)
	case !inOrder && o.Gated != (o.W.Layout == weights.Paired):
		return fmt.Errorf("%w: a gated product takes a paired matrix, another one does not", wgslkit.ErrValidation)
	case o.In.Merge != nil && o.Bounds != nil:
		return fmt.Errorf("%w: a product with bounds does not merge partial attention", wgslkit.ErrValidation)
	case o.In.Merge != nil && width != 1:
		return fmt.Errorf("%w: partial attention is merged in programs of width one", wgslkit.ErrValidation)
	case o.In.Merge != nil && o.In.Merge.Heads*o.In.Merge.HeadDim != o.W.Cols:
		return fmt.Errorf("%w: %d heads of %d values for %d columns",
			wgslkit.ErrValidation, o.In.Merge.Heads, o.In.Merge.HeadDim, o.W.Cols)
	}
	return o.LowRank.check(o)
}

// record chooses the kernel, makes the input ready for it, and records it.
func (p *operand) record(r *record.Recorder) {
	k := choose(r.Width(), p.asks(), p.offers(r))
	if k.prepared {
		p.In = Prepared(r, p.Label, p.In, p.W.Cols)
	}
	if k.halves {
		p.In, p.factors = halfInputs(r, p)
	}
	if r.Err() != nil {
		return
	}
	p.params.reads(p.In)
	k.record(r, p)
}

// mul is what outputs are multiplied by, or something harmless.
func (p *operand) mul() *wgslkit.Buffer { return record.OrBuffer(p.Mul, p.In.X) }

// behind adds to the variant of a kernel what its outputs take besides, and returns the
// bindings that it has for that behind all others (tiles/many_bindings.wgsl).
func (p *operand) behind(v wgslkit.Variant) []wgslkit.Binding {
	var b []wgslkit.Binding
	if p.Bounds != nil {
		v["BOUNDED"] = true
		b = append(b, p.Bounds.rows.All())
	}
	if p.LowRank != nil {
		v["LOW_RANK"] = true
		b = append(b, p.LowRank.U.All(), p.LowRank.B.All())
	}
	return b
}

// call records a kernel of the product.
func (p *operand) call(
	r *record.Recorder, file string, v wgslkit.Variant, grid wgslkit.Grid, params Params, bind ...wgslkit.Binding,
) {
	r.Dispatch(Files, file, v, wgslkit.Call{
		Label: p.Label, Params: p.W.WithCodebook(p.LowRank.params(p.W.Layout, params)), Bind: bind, Grid: grid,
	})
}
