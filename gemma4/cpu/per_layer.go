package cpu

import "math"

// perLayerInputs computes the per-layer embeddings of the inputs, whose scaled
// embeddings are x: (c + e) / √2, [tokens, L, P], with c the projection of x and e
// the token's own rows.
func (m *Model) perLayerInputs(x []float32, inputs []Input) ([]float32, error) {
	c := m.config
	if c.PerLayerDim == 0 {
		return nil, nil
	}
	width := c.Blocks * c.PerLayerDim
	pli := make([]float32, len(inputs)*width)
	if err := m.mul(len(inputs), whole(m.perLayerModelProj, x, pli)); err != nil {
		return nil, err
	}
	scale(pli, float32(1/math.Sqrt(float64(c.EmbeddingLength))))
	rmsNorm(pli, pli, m.perLayerProjNorm, c.Eps)

	var scratch scratch
	for i, in := range inputs {
		token := in.Token
		if in.Embedding != nil {
			token = padToken
		}
		e, err := m.perLayerTokenEmbd.read(&scratch, int(token), 1)
		if err != nil {
			return nil, err
		}
		combine(pli[i*width:(i+1)*width], e, c.PerLayerScale())
	}
	return pli, nil
}

// combine is c = (c + e·factor) / √2.
func combine(c, e []float32, factor float32) {
	for j := range c {
		c[j] = (c[j] + e[j]*factor) * (1 / math.Sqrt2)
	}
}

// perLayer adds what layer i makes of its share of the per-layer embeddings:
// x = x + rms(proj·(gelu(inp_gate·x) ⊙ pli[i]); post_norm).
func (m *Model) perLayer(s *step, i int) error {
	l, p := &m.layers[i], m.config.PerLayerDim
	if p == 0 {
		return nil
	}
	gate := make([]float32, s.tokens*p)
	if err := m.mul(s.tokens, whole(l.inpGate, s.x, gate)); err != nil {
		return err
	}
	share := make([]float32, s.tokens*p)
	for t := range s.tokens {
		copy(share[t*p:(t+1)*p], s.perLayer[(t*m.config.Blocks+i)*p:])
	}
	if err := m.gated(gate, share); err != nil {
		return err
	}
	if err := m.mul(s.tokens, whole(l.proj, gate, s.h)); err != nil {
		return err
	}
	rmsNorm(s.h, s.h, l.postNorm, m.config.Eps)
	add(s.x, s.h)
	return nil
}
