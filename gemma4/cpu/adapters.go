package cpu

import "github.com/gemwire/gemwire/gemma4/adapter"

// lowRank is what one adapter adds to a product: factor·B·(A·x).
type lowRank struct {
	*adapter.Pair
	factor float32
}

// SetAdapters makes the model compute with these adapters, and no others, from
// the next Forward on. None may be running. Caches that hold positions were
// computed without them and have to be emptied.
func (m *Model) SetAdapters(adapters []adapter.Weighted) {
	for i := range m.layers {
		for _, l := range adapter.All() {
			if w := m.layers[i].linear(l); w != nil {
				w.adapters = nil
			}
		}
	}
	for _, a := range adapters {
		for t, p := range a.Pairs {
			w := m.layers[t.Layer].linear(t.Linear)
			w.adapters = append(w.adapters, lowRank{p, a.Weight * p.Scale})
		}
	}
}

// linear is one of the layer's linears, nil where it has none of its own.
func (l *layer) linear(which adapter.Linear) *matrix {
	switch which {
	case adapter.Q:
		return l.q
	case adapter.K:
		return l.k
	case adapter.V:
		return l.v
	case adapter.Output:
		return l.attnOutput
	case adapter.Gate:
		return l.gate
	case adapter.Up:
		return l.up
	case adapter.Down:
		return l.down
	}
	return nil
}

// adapt adds to each token's outputs what the matrix's adapters say.
func (p product) adapt(t *threads, tokens int) error {
	for _, a := range p.w.adapters {
		grain := 1 + mulsPerPart/(a.Rank*(a.In+a.Out))
		err := t.each(tokens, grain, func(from, to int) error {
			u := make([]float32, a.Rank)
			for i := from; i < to; i++ {
				a.add(p.y[i*p.rows:(i+1)*p.rows], p.x[i*a.In:(i+1)*a.In], u)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// add is y += factor·B·(A·x), with memory for A·x.
func (a lowRank) add(y, x, u []float32) {
	for r := range u {
		u[r] = a.factor * dot(a.A[r*a.In:(r+1)*a.In], x)
	}
	for o := range y {
		y[o] += dot(a.B[o*a.Rank:(o+1)*a.Rank], u)
	}
}
