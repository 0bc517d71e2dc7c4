package product

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// recordVector records a product of one token by matvec.wgsl, with all that goes before
// and after.
func recordVector(r *record.Recorder, p *operand) {
	addX, addW, normW, addOut := InputBuffers(r, p.In)
	x, cells := p.In.X, 0
	if p.In.Merge != nil {
		x, cells = p.In.Merge.Buffer, p.In.Merge.Heads*p.In.Merge.Splits
	}
	for _, tile := range p.W.Tiles {
		shape := CutVector(r.Kit(), p.W, tile.Rows, cells, p.LowRank.most())
		v := p.W.Variant()
		shape.Into(v)
		v["ADD"], v["NORM"], v["GATED"], v["MERGE"] = p.In.Add != nil, p.In.Norm != nil, p.Gated, p.In.Merge != nil
		if p.In.Merge != nil {
			v["MERGE_CELLS"] = cells
		}
		addX, addW := p.LowRank.inPlaceOf(v, addX, addW)
		params := p.params.of(tile)
		params.Lanes, params.RowsOfThread = uint32(shape.Lanes), uint32(shape.Rows)
		bind := record.BindAll(x, normW, addX, addW, record.OrBuffer(p.Mul, x), addOut, p.Out)
		p.call(r, "matvec.wgsl", v, wgslkit.Grid{X: uint32(shape.groups)}, params,
			append([]wgslkit.Binding{tile.Bind()}, bind...)...)
	}
}
