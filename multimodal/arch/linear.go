package arch

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gguf"
)

// Linear is y = clamp(W·clamp(x)) + bias: a matrix and, where the file has them,
// bounds of what goes in and what comes out.
type Linear struct {
	Weight *gguf.Tensor // [in, out]
	Bias   *gguf.Tensor // [out]; nil for none, as in all but the audio tower's output

	bounds bounds
}

// Clamp bounds what goes into a linear and what comes out of it. Bounds that the
// file does not give are infinite.
type Clamp struct {
	InMin, InMax   float32
	OutMin, OutMax float32
}

// NoClamp lets everything through.
func NoClamp() Clamp {
	inf := float32(math.Inf(1))
	return Clamp{InMin: -inf, InMax: inf, OutMin: -inf, OutMax: inf}
}

// ClipsIn says whether what goes in has any bound.
func (c Clamp) ClipsIn() bool { return clips(c.InMin, c.InMax) }

// ClipsOut says whether what comes out has any bound.
func (c Clamp) ClipsOut() bool { return clips(c.OutMin, c.OutMax) }

// Bounds at the end of float32's range are how some files say that there is none.
func clips(low, high float32) bool { return low > -math.MaxFloat32 || high < math.MaxFloat32 }

// bounds says where the bounds of a linear lie.
type bounds struct {
	// each is input_min, input_max, output_min, output_max; nil where there is none.
	each [4]*gguf.Tensor
	// packed holds them for many linears; those of this one start at value first.
	packed *gguf.Tensor
	first  int
}

var boundNames = [4]string{"input_min", "input_max", "output_min", "output_max"}

// Clipped says whether the file holds bounds for the linear.
func (l *Linear) Clipped() bool { return l.bounds != bounds{} }

// Clamp reads the linear's bounds: a few bytes that lie beside its weights. An
// error wraps ErrConfig for bounds that are not numbers or leave no room between
// them, and else is that of reading the file.
func (l *Linear) Clamp(ctx context.Context) (Clamp, error) {
	c := NoClamp()
	for i, bound := range []*float32{&c.InMin, &c.InMax, &c.OutMin, &c.OutMax} {
		if t := l.bounds.each[i]; t != nil {
			var one [1]float32
			if err := t.ReadRowsContext(ctx, one[:], 0, 1); err != nil {
				return c, err
			}
			*bound = one[0]
		}
	}
	if l.bounds.packed != nil {
		if err := l.bounds.readPacked(ctx, &c); err != nil {
			return c, err
		}
	}
	if !(c.InMin <= c.InMax) || !(c.OutMin <= c.OutMax) {
		return c, fmt.Errorf("%s: inputs from %v to %v and outputs from %v to %v: %w",
			l.Weight.Name, c.InMin, c.InMax, c.OutMin, c.OutMax, ErrConfig)
	}
	return c, nil
}

// readPacked takes a linear's four values out of the tensor that holds all of
// them. Four zeros stand for a linear that has none: the converter leaves them
// so, and nothing could pass them.
func (b bounds) readPacked(ctx context.Context, c *Clamp) error {
	values := make([]float32, b.packed.Elements())
	if err := b.packed.ReadRowsContext(ctx, values, 0, b.packed.Rows()); err != nil {
		return err
	}
	own := [4]float32(values[b.first : b.first+4])
	if own != [4]float32{} {
		*c = Clamp{InMin: own[0], InMax: own[1], OutMin: own[2], OutMax: own[3]}
	}
	return nil
}
