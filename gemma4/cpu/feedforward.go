package cpu

// feedForward adds the dense feed-forward and, in layers that have them, the
// experts: x = x + rms(f; post_ffw_norm).
func (m *Model) feedForward(s *step, i int) error {
	l, eps := &m.layers[i], m.config.Eps
	rmsNorm(s.h, s.x, l.ffnNorm, eps)
	if err := m.dense(s.tokens, whole(l.gate, s.h, nil), whole(l.up, s.h, nil), whole(l.down, nil, s.h)); err != nil {
		return err
	}
	if l.moe != nil {
		rmsNorm(s.h, s.h, l.moe.postDenseNorm, eps)
		m2, err := m.mixture(l.moe, s.tokens, s.x)
		if err != nil {
			return err
		}
		add(s.h, m2)
	}
	rmsNorm(s.h, s.h, l.postFFWNorm, eps)
	add(s.x, s.h)
	return nil
}

// dense computes down·(gelu(gate·x) ⊙ (up·x)), [tokens, d]. gate and up come with
// their x, down with its y.
func (m *Model) dense(tokens int, gate, up, down product) error {
	gate.y = make([]float32, tokens*gate.rows)
	up.y = make([]float32, tokens*up.rows)
	if err := m.mul(tokens, gate, up); err != nil {
		return err
	}
	if err := m.gated(gate.y, up.y); err != nil {
		return err
	}
	down.x = gate.y
	return m.mul(tokens, down)
}
