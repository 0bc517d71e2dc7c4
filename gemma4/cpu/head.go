package cpu

import "github.com/gemwire/gemwire/gemma4/cpu/kernel"

// logits computes W_out·rms(x; output_norm), [tokens, vocab], and its softcap
// c·tanh(logits / c). The normed x stays in h.
func (m *Model) logits(s *step, y []float32) error {
	if err := m.mul(s.tokens, whole(m.output, s.h, y)); err != nil {
		return err
	}
	softcap := m.config.LogitSoftcap
	if softcap == 0 {
		return nil
	}
	return m.threads.each(len(y), activationsPerPart, func(from, to int) error {
		kernel.Best.Softcap(y[from:to], softcap)
		return nil
	})
}
