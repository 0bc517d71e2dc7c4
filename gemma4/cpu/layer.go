package cpu

// layer runs layer i of the model over the tokens of a step.
func (m *Model) layer(s *step, i int) error {
	l, c := &m.layers[i], m.config

	rmsNorm(s.h, s.x, l.attnNorm, c.Eps)
	if c.HasOwnKV(i) {
		if err := m.keysValues(s, i); err != nil {
			return err
		}
	}
	if i == c.LastKVOwner() {
		s.keepLast() // the other positions have left all that anyone reads
		if s.tokens == 0 {
			return nil
		}
	}
	if err := m.attention(s, i); err != nil {
		return err
	}
	rmsNorm(s.h, s.h, l.postAttentionNorm, c.Eps)
	add(s.x, s.h)

	if err := m.feedForward(s, i); err != nil {
		return err
	}
	if err := m.perLayer(s, i); err != nil {
		return err
	}
	scale(s.x, l.outputScale)
	return nil
}
