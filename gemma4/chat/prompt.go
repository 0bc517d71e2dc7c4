package chat

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// Encoded is a prompt as token ids.
type Encoded struct {
	IDs   []int
	Media []Placement // in the order of the prompt
}

// Placement says where a medium's soft tokens go: IDs[First:First+Count] hold
// its placeholder token, once for each. Of a medium in several pieces, each has
// a placement of its own.
type Placement struct {
	Part         *Part
	Piece        int // of the part's, from 0
	First, Count int
}

// Encode turns the prompt into ids. Control tokens are found in the template's
// own text alone; apart from that the prompt is encoded as one text, so that
// the ids are those of the whole.
//
// A medium becomes its opening token, as many placeholders as softTokens says
// that it has, and its closing token; one with several numbers, that for each.
// Without softTokens it stays the single placeholder.
func (p Prompt) Encode(tok *tokenizer.Tokenizer, softTokens func(*Part) ([]int, error)) (Encoded, error) {
	for _, marker := range []string{bos, turnOpen, turnClose} {
		if _, err := lookup(tok, marker); err != nil {
			return Encoded{}, err
		}
	}
	var out Encoded
	var run []tokenizer.Span
	for _, s := range p {
		if s.Media == nil {
			run = append(run, tokenizer.Span{Text: s.Text, Trusted: s.Trusted})
			continue
		}
		out.IDs = append(out.IDs, tok.EncodeSpans(run)...)
		run = run[:0]
		if err := out.place(tok, s.Media, softTokens); err != nil {
			return Encoded{}, err
		}
	}
	out.IDs = append(out.IDs, tok.EncodeSpans(run)...)
	return out, nil
}

// place appends a medium.
func (e *Encoded) place(tok *tokenizer.Tokenizer, part *Part, softTokens func(*Part) ([]int, error)) error {
	markers := markersOf[part.Type]
	placeholder, err := lookup(tok, markers.placeholder)
	if err != nil {
		return err
	}
	if softTokens == nil {
		e.Media = append(e.Media, Placement{part, 0, len(e.IDs), 1})
		e.IDs = append(e.IDs, placeholder)
		return nil
	}
	counts, err := softTokens(part)
	if err != nil {
		return err
	}
	open, err := lookup(tok, markers.open)
	if err != nil {
		return err
	}
	closing, err := lookup(tok, markers.close)
	if err != nil {
		return err
	}
	for piece, count := range counts {
		e.IDs = append(e.IDs, open)
		e.Media = append(e.Media, Placement{part, piece, len(e.IDs), count})
		e.IDs = append(e.IDs, slices.Repeat([]int{placeholder}, count)...)
		e.IDs = append(e.IDs, closing)
	}
	return nil
}

// lookup finds a control token.
func lookup(tok *tokenizer.Tokenizer, marker string) (int, error) {
	id, ok := tok.Lookup(marker)
	if !ok || !tok.IsControl(id) {
		return 0, fmt.Errorf("%w: %s (is this a Gemma 4 model?)", ErrVocabulary, marker)
	}
	return id, nil
}
