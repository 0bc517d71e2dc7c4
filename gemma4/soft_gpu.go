package gemma4

import (
	"encoding/binary"
	"math"

	"github.com/gemwire/gemwire/gemma4/arch"
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
	}{{&s.rows, "soft tokens", a.width * s.size}, {&s.marks, "soft marks", a.width}, {&s.spans, "image spans", a.width}} {
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
func (s *softRows) write(p *piece) error {
	marks, spans := make([]uint32, len(p.tokens)), make([]uint32, len(p.tokens))
	for i := range p.soft {
		r := &p.soft[i]
		for t := r.first; t < r.end(); t++ {
			marks[t] = 1
			if r.mutual {
				spans[t] = uint32(i + 1)
			}
		}
		raw := make([]byte, 0, 4*len(r.vectors))
		for _, v := range r.vectors {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		if err := s.rows.Write(int64(4*r.first*s.size), raw); err != nil {
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

// padded is the tokens with the pad token where soft ones stand.
func (p *piece) padded() []int32 {
	tokens := append([]int32(nil), p.tokens...)
	for i := range p.soft {
		for t := p.soft[i].first; t < p.soft[i].end(); t++ {
			tokens[t] = padToken
		}
	}
	return tokens
}

// lowerFor is the program that a chunk of a prompt runs through.
func (s *gpuState) lowerFor(p *piece) (*ops.Recording, error) {
	if len(p.soft) == 0 {
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
