package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Gate is Out = gelu(Gate) ⊙ Up. Row t of each lattice belongs to token t.
type Gate struct {
	Label         string
	Gate, Up, Out record.Lattice // [width, Size]
	Size          int
}

// GateBack is DGate = DY ⊙ Up ⊙ gelu′(Gate), or with OfUp DUp = DY ⊙ gelu(Gate);
// with Add Out += it.
type GateBack struct {
	Label         string
	Gate, Up, Out record.Lattice  // [width, Size]
	DY            *wgslkit.Buffer // [width, Size]
	Size          int
	OfUp, Add     bool
}

type gateParams struct {
	Size, GateOffset, GateRow, GateColumn uint32
	UpOffset, UpRow, UpColumn, OutOffset  uint32
	OutRow, OutColumn                     uint32
}

func newGateParams(size int, gate, up, out record.Lattice) gateParams {
	return gateParams{
		uint32(size), uint32(gate.Offset), uint32(gate.Row), uint32(gate.Column),
		uint32(up.Offset), uint32(up.Row), uint32(up.Column), uint32(out.Offset), uint32(out.Row), uint32(out.Column),
	}
}

// Record records the op.
func (o Gate) Record(r *record.Recorder) {
	r.Dispatch(Files, "gate.wgsl", wgslkit.Variant{"THREADS": record.GridThreads}, wgslkit.Call{
		Label: o.Label, Params: newGateParams(o.Size, o.Gate, o.Up, o.Out),
		Bind: []wgslkit.Binding{o.Gate.Bind, o.Up.Bind, o.Out.Bind},
		Grid: record.ValueGrid(o.Size),
	})
}

// Record records the op.
func (o GateBack) Record(r *record.Recorder) {
	back := "gate"
	if o.OfUp {
		back = "up"
	}
	r.Dispatch(Files, "gate.wgsl", wgslkit.Variant{"THREADS": record.GridThreads, "BACK": back, "ADD": o.Add},
		wgslkit.Call{
			Label: o.Label, Params: newGateParams(o.Size, o.Gate, o.Up, o.Out),
			Bind: []wgslkit.Binding{o.Gate.Bind, o.Up.Bind, o.DY.All(), o.Out.Bind},
			Grid: record.ValueGrid(o.Size),
		})
}
