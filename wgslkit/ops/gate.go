package ops

import "github.com/gemwire/gemwire/wgslkit"

// Gate is Out = gelu(Gate) ⊙ Up. Row t of each lattice belongs to token t.
type Gate struct {
	Label         string
	Gate, Up, Out Lattice // [width, Size]
	Size          int
}

// GateBack is DGate = DY ⊙ Up ⊙ gelu′(Gate), or with OfUp DUp = DY ⊙ gelu(Gate);
// with Add Out += it.
type GateBack struct {
	Label         string
	Gate, Up, Out Lattice         // [width, Size]
	DY            *wgslkit.Buffer // [width, Size]
	Size          int
	OfUp, Add     bool
}

type gateParams struct {
	Size, GateOffset, GateRow, GateColumn uint32
	UpOffset, UpRow, UpColumn, OutOffset  uint32
	OutRow, OutColumn                     uint32
}

func newGateParams(size int, gate, up, out Lattice) gateParams {
	return gateParams{
		uint32(size), uint32(gate.Offset), uint32(gate.Row), uint32(gate.Column),
		uint32(up.Offset), uint32(up.Row), uint32(up.Column), uint32(out.Offset), uint32(out.Row), uint32(out.Column),
	}
}

// Gate records the op.
func (r *Recorder) Gate(o Gate) {
	r.dispatch("gate.wgsl", wgslkit.Variant{"THREADS": gridThreads}, wgslkit.Call{
		Label: o.Label, Params: newGateParams(o.Size, o.Gate, o.Up, o.Out),
		Bind: []wgslkit.Binding{o.Gate.Bind, o.Up.Bind, o.Out.Bind},
		Grid: valueGrid(o.Size),
	})
}

// GateBack records the op.
func (r *Recorder) GateBack(o GateBack) {
	back := "gate"
	if o.OfUp {
		back = "up"
	}
	r.dispatch("gate.wgsl", wgslkit.Variant{"THREADS": gridThreads, "BACK": back, "ADD": o.Add}, wgslkit.Call{
		Label: o.Label, Params: newGateParams(o.Size, o.Gate, o.Up, o.Out),
		Bind: []wgslkit.Binding{o.Gate.Bind, o.Up.Bind, o.DY.All(), o.Out.Bind},
		Grid: valueGrid(o.Size),
	})
}

// valueGrid is a thread for each of a row's values (x) of each token (y).
func valueGrid(size int) wgslkit.Grid {
	return wgslkit.Grid{X: uint32(ceilDiv(size, gridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY}
}
