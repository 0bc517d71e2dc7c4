package gpu

import "github.com/gemwire/gemwire/wgslkit/ops"

// adaptersOf are those of layer i.
func (g *graph) adaptersOf(i int) layerAdapters {
	if g.adapters == nil {
		return layerAdapters{}
	}
	return g.adapters.layers[i]
}

// adapted records u = A·x for products that read in, where l is not nil, and
// returns in as they read it then, and what they add of u to their rows.
func (g *graph) adapted(l *lowRank, in ops.Input) (ops.Input, *ops.LowRank) {
	if l == nil {
		return in, nil
	}
	in = g.Prepare("adapter input", in, l.a.Cols)
	g.Linear(ops.Linear{Label: "adapter A", W: l.a, In: in, Out: g.act.adapted})
	return in.Again(), &ops.LowRank{U: g.act.adapted, Stride: l.rank, B: l.b, Parts: l.parts}
}

// adapt records the programs anew where other adapters are in use than those that
// they were recorded with.
func (s *state) adapt() error {
	e := s.engine
	if s.programs != nil && s.adapters == e.adapters {
		return nil
	}
	s.programs.release()
	s.verifier.release()
	s.programs, s.verifier = nil, nil
	for _, act := range []*activations{s.wide, s.single, s.rows} {
		if err := act.setAdapted(e.kit, e.adapters); err != nil {
			return err
		}
	}
	s.adapters = e.adapters
	var err error
	s.programs, err = s.recorder().record()
	return err
}
