package gemma4

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
)

// Profile computes the last token of the session's text once more and says
// what each kernel of a decoding step took on the GPU, slowest first. The
// session then has one token less computed. It fails with ErrUnsupported on
// the CPU, for a session without text, and where the GPU has no timestamps.
func (s *Session) Profile(ctx context.Context) ([]wgslkit.KernelTime, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	st, ok := s.state.(*gpuState)
	n := s.state.length()
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: a profile on the CPU; take one on a GPU", ErrUnsupported)
	case !st.engine.device.Features().Timestamps:
		return nil, fmt.Errorf("%w: %s has no timestamps", ErrUnsupported, st.engine.device.Info().Name)
	case n == 0:
		return nil, fmt.Errorf("%w: a profile of a session without text; compute a prompt first", ErrUnsupported)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	last := piece{tokens: []int32{s.text.Tokens[n-1]}}
	// A sliding cache holds the window before the last token as well.
	s.text.truncate(st.rewind(n - 1))
	if err := st.feed(st.single, last); err != nil {
		return nil, err
	}
	return st.programs.decode.Profile(1)
}

// Dispatches is how many kernels a decoding step runs; 0 on the CPU.
func (s *Session) Dispatches() int {
	if st, ok := s.state.(*gpuState); ok && st.programs != nil {
		return st.programs.decode.Dispatches()
	}
	return 0
}

// GPUMemory is the bytes in use on the GPU by purpose; nil on the CPU.
func (m *Model) GPUMemory() map[wgslkit.Purpose]int64 {
	if e, ok := m.engine.(*gpuEngine); ok {
		return e.device.Memory()
	}
	return nil
}

// BytesPerToken is how many bytes of the file's weights decoding one token
// reads: all of them, but of tables that are only looked up one row, and of
// experts those that are chosen.
func (m *Model) BytesPerToken() int64 {
	all, _ := bytesPerToken(m.arch)
	return all
}

// bytesPerToken is also how many of them are chosen experts'.
func bytesPerToken(m *arch.Model) (all, experts int64) {
	read := map[*gguf.Tensor]int64{}
	for _, t := range textTensors(m) {
		read[t] = t.Size
	}
	for _, t := range lookupTables(m) {
		read[t] = t.Size / int64(t.Rows())
	}
	c := m.Config
	for i := range m.Layers {
		if e := m.Layers[i].MoE; e != nil {
			for _, t := range []*gguf.Tensor{e.GateUp, e.Gate, e.Up, e.Down} {
				if t != nil {
					read[t] = t.Size / int64(c.Experts) * int64(c.ExpertsUsed)
					experts += read[t]
				}
			}
		}
	}
	for _, n := range read {
		all += n
	}
	return all, experts
}

// bytesPerGuess is how many bytes of its file's weights an assistant reads for a guess.
func bytesPerGuess(a *arch.Assistant) (n int64) {
	for _, t := range append(textTensors(a.Decoder), a.PreProjection, a.PostProjection) {
		n += t.Size
	}
	if c := a.Clusters; c != nil {
		head := a.Decoder.Output.Size
		n += c.Centroids.Size - head + head*int64(c.Used)/int64(c.Count())
	}
	return n
}
