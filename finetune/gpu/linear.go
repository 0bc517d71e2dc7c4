package gpu

import (
	"fmt"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// group is the products of a section that read the same values and whose weights
// lie in one matrix: one product, one way back, and one A·x for all of them.
type group struct {
	matrix  *ops.Matrix
	x       tape.Value
	members []*tape.Linear
	rows    []gemma4.MatrixRows // of each member
}

// first is the member whose turn comes first on the forward pass, and last back.
func (g *group) first() *tape.Linear { return g.members[0] }

// at is member i's part of a tensor with all of the matrix's outputs.
func (g *group) at(i int, t *tensor) *view {
	return &view{tensor: t, offset: g.rows[i].First, row: g.matrix.Rows, column: g.rows[i].Step}
}

// groupsOf finds the groups of all sections.
func (m *Machine) groupsOf() error {
	type key struct {
		x      tape.Value
		matrix *ops.Matrix
	}
	for i := range m.tape.Sections {
		found := map[key]*group{}
		for _, op := range m.tape.Sections[i].Ops {
			l, ok := op.(*tape.Linear)
			if !ok {
				continue
			}
			rows, ok := m.weights.Matrix(l.W)
			if !ok {
				return fmt.Errorf("%w: %s is not on the GPU", ErrUnsupported, l.W.Name)
			}
			k := key{l.X, rows.Matrix}
			if found[k] == nil {
				found[k] = &group{matrix: rows.Matrix, x: l.X}
			}
			g := found[k]
			g.members, g.rows = append(g.members, l), append(g.rows, rows)
			m.groups[l], m.groupOf[l.Out] = g, g
		}
		for _, g := range found {
			if err := g.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *group) check() error {
	n := 0
	for _, r := range g.rows {
		n += r.Rows
	}
	if n != g.matrix.Rows {
		return fmt.Errorf("%w: %s shares %d rows with others and %d are read", ErrUnsupported, g.first().W.Name,
			g.matrix.Rows, n)
	}
	return nil
}

// whole is the matrix of a tensor that shares it with no other.
func (m *Machine) whole(t *gguf.Tensor) (*ops.Matrix, error) {
	rows, ok := m.weights.Matrix(t)
	if !ok || rows.Rows != rows.Matrix.Rows {
		return nil, fmt.Errorf("%w: %s is not on the GPU by itself", ErrUnsupported, t.Name)
	}
	return rows.Matrix, nil
}

// Linear is, for all of a group at its first member's turn, u = scale·A·x and
// y = W·x + B·u in one product, or where pairs are no such end of one, u = A·x,
// y = W·x and y += scale·B·u.
func (f *forward) Linear(op *tape.Linear) error {
	w := (*walk)(f)
	g := w.groups[op]
	if op != g.first() {
		return nil
	}
	x, all := w.values[g.x], w.take(g.matrix.Rows, len(g.members))
	for i, l := range g.members {
		w.values[l.Out] = g.at(i, all)
	}
	p := w.pairs.of(g)
	if p.rank == 0 {
		w.each(func(r *ops.Recorder, i int) {
			r.AllRows(ops.AllRows{Label: "W·x", W: g.matrix, X: x.slice(i), Out: all.at(i)})
		})
		return nil
	}
	u := w.take(p.rank, 1)
	w.aux[g] = u
	w.each(func(r *ops.Recorder, i int) {
		r.Dense(ops.Dense{Label: "A·x", A: x.lattice(i), B: p.turnedA(values), Out: p.inner(u.at(i), 0), N: p.rank,
			K: p.in, Scale: p.factor()})
		r.AllRows(ops.AllRows{Label: "W·x", W: g.matrix, X: x.slice(i), Out: all.at(i), LowRank: p.lowRank(u.at(i))})
		if !p.apart {
			return
		}
		for j, l := range g.members {
			if s := w.pairs.slot(l); s != nil {
				r.Dense(ops.Dense{
					Label: "B·u", A: p.inner(u.at(i), s.first), B: s.turnedB(values), Out: g.at(j, all).lattice(i),
					N: s.out, K: s.rank, Scale: s.left(), Add: true,
				})
			}
		}
	})
	return nil
}

// takeGroup is memory for the gradients of all of a group's outputs.
func (w *walk) takeGroup(g *group) {
	all := w.take(g.matrix.Rows, 0)
	for i, l := range g.members {
		if w.tape.Shape(l.Out).Trained {
			w.deltas[l.Out] = g.at(i, all)
			w.fresh[l.Out] = true
			all.refs++
		}
	}
}

// Linear adds, when all of a group's outputs have their gradients, with
// du = scale·Bᵀ·dy: dB += scale·dy·(A·x)ᵀ, dA += du·xᵀ and dx += Wᵀ·dy + Aᵀ·du.
func (b *back) Linear(op *tape.Linear) error {
	w := (*walk)(b)
	g := w.groups[op]
	if op != w.lastBack(g) {
		return nil
	}
	dx, more := w.delta(g.x)
	if dx != nil {
		dy := w.deltas[op.Out]
		w.each(func(r *ops.Recorder, i int) {
			r.LinearBack(ops.LinearBack{Label: "Wᵀ·dy", W: g.matrix, DY: ops.All(dy.at(i)), DX: dx.slice(i), Add: more})
		})
	}
	if p := w.pairs.of(g); p.rank > 0 {
		w.pairsBack(g, p, dx)
	}
	for _, l := range g.members {
		w.dropDelta(l.Out)
	}
	return nil
}

// lastBack is the member that the way back comes to last.
func (w *walk) lastBack(g *group) *tape.Linear {
	for _, l := range g.members {
		if w.tape.Shape(l.Out).Trained {
			return l
		}
	}
	return nil
}

func (w *walk) pairsBack(g *group, p *groupPairs, dx *view) {
	x, u, du := w.values[g.x], w.aux[g], w.take(p.rank, 1)
	w.each(func(r *ops.Recorder, i int) {
		u, du := u.at(i), du.at(i)
		for _, l := range g.members {
			s := w.pairs.slot(l)
			if s == nil {
				continue
			}
			dy := w.deltas[l.Out].lattice(i)
			r.Dense(ops.Dense{Label: "Bᵀ·dy", A: dy, B: s.b(values), Out: p.inner(du, s.first), N: s.rank, K: s.out,
				Scale: s.scale})
			r.Dense(ops.Dense{Label: "dB", A: turned(dy), B: p.inner(u, s.first), Out: s.b(grads), M: s.out, N: s.rank,
				Scale: s.left(), Add: true})
		}
		r.Dense(ops.Dense{Label: "dA", A: turned(p.inner(du, 0)), B: x.lattice(i), Out: p.a(grads), M: p.rank, N: p.in,
			Add: true})
		if dx != nil {
			r.Dense(ops.Dense{Label: "Aᵀ·du", A: p.inner(du, 0), B: p.a(values), Out: dx.lattice(i), N: p.in, K: p.rank,
				Add: true})
		}
	})
	w.pool.drop(du)
}

// turned is a matrix the other way round.
func turned(l ops.Lattice) ops.Lattice {
	l.Row, l.Column = l.Column, l.Row
	return l
}
