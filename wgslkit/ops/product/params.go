package product

import (
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// Params is Params of parts/params.wgsl, which every kernel of Linear reads.
type Params struct {
	Rows, First, Cols, Units               uint32
	RowSize, Plane1, Plane2, Flags         uint32
	XOffset, XStride, OutOffset, OutStride uint32
	MulOffset, MulStride, Act              uint32
	Softcap                                float32
	Lanes, RowsOfThread, Splits, Capacity  uint32
	AddEps, AddScale, NormEps, NormScale   float32
	InMin, InMax                           float32
	Heads, HeadDim                         uint32
}

// Bits of Params.Flags.
const (
	flagAddWeighted uint32 = 1 << iota
	flagNormWeighted
	flagMul
	FlagAdded
	FlagPerSlot
	flagGated
)

// of is the params of one tile of the matrix.
func (p Params) of(tile weights.MatrixTile) Params {
	p.Rows, p.First = uint32(tile.Rows), uint32(tile.First)
	return p
}

// paramsOf are the params of a completed product, but for what is of a tile.
func paramsOf(o Linear) Params {
	w := o.W
	p := Params{
		Cols: uint32(w.Cols), Units: uint32(w.Row.Units),
		RowSize: uint32(w.Row.Size), Plane1: w.Row.BeginOf(1), Plane2: w.Row.BeginOf(2),
		OutOffset: uint32(o.OutOffset), OutStride: uint32(o.OutStride),
		MulOffset: uint32(o.MulOffset), MulStride: uint32(o.MulStride), Act: uint32(o.Act), Softcap: o.Softcap,
	}
	if o.Mul != nil {
		p.Flags |= flagMul
	}
	if o.Gated {
		p.Flags |= flagGated
	}
	if o.Bounds != nil {
		p.InMin, p.InMax = o.Bounds.InMin, o.Bounds.InMax
	}
	if o.In.Merge != nil {
		p.Heads, p.HeadDim, p.Splits = uint32(o.In.Merge.Heads), uint32(o.In.Merge.HeadDim), uint32(o.In.Merge.Splits)
	}
	p.reads(o.In)
	return p
}

// reads puts an input's place and the numbers of what is made of it into the params.
func (p *Params) reads(in Input) {
	f := in.Factors()
	p.XOffset, p.XStride = uint32(in.Offset), uint32(in.Stride)
	p.AddEps, p.AddScale, p.NormEps, p.NormScale = f.addEps, f.addScale, f.NormEps, f.NormScale
	p.Flags = p.Flags&^(flagAddWeighted|flagNormWeighted) | in.Flags()
}
