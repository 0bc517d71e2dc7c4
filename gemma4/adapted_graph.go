package gemma4

import (
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// adaptersOf are those of layer i.
func (g *graph) adaptersOf(i int) layerAdapters {
	if g.adapters == nil {
		return layerAdapters{}
	}
	return g.adapters.layers[i]
}

// adapt adds to what products gave: u = A·x, then y += B·u. place says where a
// linear's outputs lie.
func (g *graph) adapt(l *lowRank, x ops.Input, place func(adapter.Linear) ops.Lattice) {
	if l == nil {
		return
	}
	u := g.act.adapted.u
	g.Linear(ops.Linear{Label: "adapter A", W: l.a, In: x, Out: u})
	for _, p := range l.parts {
		g.Dense(ops.Dense{
			Label: "adapter B", A: ops.Lattice{Bind: u.All(), Offset: p.first, Row: l.rank, Column: 1},
			B:   ops.Lattice{Bind: p.b.All(), Row: 1, Column: p.rank},
			Out: place(p.target.Linear), N: p.out, K: p.rank, Add: true,
		})
	}
}

// rowsAt places a product's outputs in rows of a buffer.
func rowsAt(b *wgslkit.Buffer, offset, row int) ops.Lattice {
	return ops.Lattice{Bind: b.All(), Offset: offset, Row: row, Column: 1}
}

// adaptBlock is adapt for a product into act.block.
func (g *graph) adaptBlock(l *lowRank, x ops.Input) {
	g.adapt(l, x, func(adapter.Linear) ops.Lattice { return rowsAt(g.act.block, 0, g.config.EmbeddingLength) })
}

// adaptQKV is adapt for queries, keys and values of layer i, in act.qkv.
func (g *graph) adaptQKV(i int, w *gpuLayer) {
	c := g.config
	offsets := map[adapter.Linear]int{adapter.K: c.QueryDim(i), adapter.V: c.QueryDim(i) + c.KVDim(i)}
	g.adapt(g.adaptersOf(i).qkv, g.inputAgain(w.attnNorm), func(l adapter.Linear) ops.Lattice {
		return rowsAt(g.act.qkv, offsets[l], w.qkvWidth)
	})
}

// adaptedGate is act.hidden = gelu(ffn_gate·h) ⊙ (ffn_up·h) where adapters change
// either: what they add comes before the gate, so that it is an op of its own.
func (g *graph) adaptedGate(i int, w *gpuLayer) {
	ff, rows := g.config.FeedForward(i), g.act.adapted
	g.settle()
	g.RMSNorm(ops.RMSNorm{Label: "ffn_norm", X: g.x, Y: rows.normed, Weight: w.ffnNorm, Size: g.config.EmbeddingLength, Eps: g.config.Eps})
	h := ops.Input{X: rows.normed}
	gate, up := rowsAt(rows.gateUp, 0, 2*ff), rowsAt(rows.gateUp, ff, 2*ff)
	if w.gateUp != nil { // whose rows take turns
		gate.Column, up.Offset, up.Column = 2, 1, 2
		g.AllRows(ops.AllRows{Label: "ffn_gate_up", W: w.gateUp, X: ops.All(rows.normed), Out: rows.gateUp})
	} else {
		g.Linear(ops.Linear{Label: "ffn_gate", W: w.gate, In: h, Out: rows.gateUp, OutStride: 2 * ff})
		g.Linear(ops.Linear{Label: "ffn_up", W: w.up, In: h, Out: rows.gateUp, OutOffset: ff, OutStride: 2 * ff})
	}
	g.adapt(g.adaptersOf(i).gateUp, h, func(l adapter.Linear) ops.Lattice {
		if l == adapter.Gate {
			return gate
		}
		return up
	})
	g.Gate(ops.Gate{Label: "ffn_act", Gate: gate, Up: up, Out: rowsAt(g.act.hidden, 0, ff), Size: ff})
}

// adapt records the programs anew where other adapters are in use than those that
// they were recorded with.
func (s *gpuState) adapt() error {
	e := s.engine
	if s.programs != nil && s.adapters == e.adapters {
		return nil
	}
	s.programs.release()
	s.verifier.release()
	s.programs, s.verifier = nil, nil
	for _, act := range []*activations{s.wide, s.single, s.rows} {
		if err := act.setAdapted(e.kit, e.model.Config, e.adapters); err != nil {
			return err
		}
	}
	s.adapters = e.adapters
	var err error
	s.programs, err = s.recorder().record()
	return err
}
