package gpu

import (
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// softRows are the soft tokens among the tokens of a program.
type softRows struct {
	size  int             // d
	rows  *wgslkit.Buffer // [width, d], each at its token's place
	marks *wgslkit.Buffer // [width] not 0 for soft tokens
	spans *wgslkit.Buffer // [width] a number for each image whose tokens see each other
}

// addSoft makes the buffers for soft tokens, once.
func (a *activations) addSoft(kit *ops.Kit, c *arch.Config) error {
	if a.soft != nil {
		return nil
	}
	s := &softRows{size: c.EmbeddingLength}
	for _, want := range []struct {
		into  **wgslkit.Buffer
		label string
		n     int
	}{{&s.rows, "soft tokens", a.width * s.size}, {&s.marks, "soft marks", a.width},
		{&s.spans, "image spans", a.width}} {
		b, err := kit.Device().NewBuffer(want.label, wgslkit.Activations, int64(4*want.n))
		if err != nil {
			s.release()
			return err
		}
		*want.into = b
	}
	a.soft = s
	return nil
}

func (s *softRows) release() {
	if s == nil {
		return
	}
	for _, b := range []*wgslkit.Buffer{s.rows, s.marks, s.spans} {
		b.Release()
	}
}

// write sets the soft tokens of a piece.
func (s *softRows) write(p *engine.Piece) error {
	marks, spans := make([]uint32, len(p.Tokens)), make([]uint32, len(p.Tokens))
	for i := range p.Soft {
		r := &p.Soft[i]
		for t := r.First; t < r.End(); t++ {
			marks[t] = 1
			if r.Mutual {
				spans[t] = uint32(i + 1)
			}
		}
		if err := s.rows.Write(int64(4*r.First*s.size), floatBytes(r.Vectors)); err != nil {
			return err
		}
	}
	if err := s.marks.Write(0, words(marks)); err != nil {
		return err
	}
	return s.spans.Write(0, words(spans))
}

// padToken is whose row of the per-layer embeddings soft tokens have.
const padToken = 0

// padded is the tokens of a piece with the pad token where soft ones stand.
func padded(p *engine.Piece) []int32 {
	tokens := append([]int32(nil), p.Tokens...)
	for i := range p.Soft {
		for t := p.Soft[i].First; t < p.Soft[i].End(); t++ {
			tokens[t] = padToken
		}
	}
	return tokens
}

// lowerFor is the program that a chunk of a prompt runs through.
func (s *state) lowerFor(p *engine.Piece) (*ops.Recording, error) {
	if len(p.Soft) == 0 {
		return s.programs.lower, nil
	}
	if s.programs.lowerMedia == nil {
		if err := s.wide.addSoft(s.engine.kit, s.engine.model.Config); err != nil {
			return nil, err
		}
		recorded, err := s.recorder().lowerMedia()
		if err != nil {
			return nil, err
		}
		s.programs.lowerMedia = recorded
	}
	return s.programs.lowerMedia, nil
}
