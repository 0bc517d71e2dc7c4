package gpu

import (
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit"
)

// Profile computes a token behind what is there, without counting it, and says what each
// kernel of a decoding step took, slowest first.
func (s *state) Profile(token int32) ([]wgslkit.KernelTime, error) {
	if err := s.feed(s.single, engine.Piece{Tokens: []int32{token}}); err != nil {
		return nil, err
	}
	return s.programs.decode.Profile(1)
}

// Dispatches is how many kernels a decoding step runs.
func (s *state) Dispatches() int {
	if s.programs == nil {
		return 0
	}
	return s.programs.decode.Dispatches()
}
