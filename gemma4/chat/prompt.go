package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// Piece is what a medium becomes in a prompt, or a part of that: a clip that is split
// becomes several clips, a video its frames.
type Piece struct {
	// Type says which soft tokens these are: Image or Audio, or Video for a frame. Empty
	// means that of the medium.
	Type PartType
	// Count is the number of soft tokens.
	Count int
	// Before is text in front of the piece, such as a frame's time.
	Before string
}

// Encode turns the prompt into ids. Control tokens are found in the template's
// own text alone; apart from that the prompt is encoded as one text, so that
// the ids are those of the whole.
//
// A medium becomes the pieces that it is said to have: of each its opening token, as
// many placeholders as it has soft tokens, and its closing token. Without pieces it
// stays the single placeholder.
func (p Prompt) Encode(tok *tokenizer.Tokenizer, pieces func(*Part) ([]Piece, error)) (Encoded, error) {
	for _, marker := range p.turnMarkers() {
		if _, err := lookup(tok, marker); err != nil {
			return Encoded{}, err
		}
	}
	e := encoder{tok: tok, pieces: pieces}
	for _, s := range p {
		if s.Media == nil {
			e.run = append(e.run, tokenizer.Span{Text: s.Text, Trusted: s.Trusted})
			continue
		}
		if err := e.place(s.Media); err != nil {
			return Encoded{}, err
		}
	}
	e.flush()
	return e.out, nil
}

// encoder is a prompt on its way to ids.
type encoder struct {
	tok    *tokenizer.Tokenizer
	pieces func(*Part) ([]Piece, error)
	run    []tokenizer.Span // text that is not encoded yet
	out    Encoded
}

func (e *encoder) flush() {
	e.out.IDs = append(e.out.IDs, e.tok.EncodeSpans(e.run)...)
	e.run = e.run[:0]
}

// turnMarkers are the control tokens without which the prompt is of no use.
func (p Prompt) turnMarkers() []string {
	for _, s := range p {
		if s.Trusted && strings.Contains(s.Text, startOfTurn) {
			return []string{bos, startOfTurn, endOfTurn}
		}
	}
	return []string{bos, turnOpen, turnClose}
}

// place appends a medium.
func (e *encoder) place(part *Part) error {
	if e.pieces == nil {
		e.flush()
		placeholder, err := placeholderOf(e.tok, part.Type)
		e.out.Media = append(e.out.Media, Placement{part, 0, len(e.out.IDs), 1})
		e.out.IDs = append(e.out.IDs, placeholder)
		return err
	}
	pieces, err := e.pieces(part)
	if err != nil {
		return err
	}
	for i, piece := range pieces {
		if err := e.piece(Placement{Part: part, Piece: i, Count: piece.Count}, piece); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) piece(at Placement, piece Piece) error {
	kind := cmp.Or(piece.Type, at.Part.Type)
	placeholder, err := placeholderOf(e.tok, kind)
	if err != nil {
		return err
	}
	open, err := lookup(e.tok, markersOf[kind].open)
	if err != nil {
		return err
	}
	closing, err := lookup(e.tok, markersOf[kind].close)
	if err != nil {
		return err
	}
	if piece.Before != "" {
		e.run = append(e.run, tokenizer.Span{Text: piece.Before, Trusted: true})
	}
	e.flush()
	e.out.IDs = append(e.out.IDs, open)
	at.First = len(e.out.IDs)
	e.out.Media = append(e.out.Media, at)
	e.out.IDs = append(e.out.IDs, slices.Repeat([]int{placeholder}, piece.Count)...)
	e.out.IDs = append(e.out.IDs, closing)
	return nil
}

// placeholderOf is the id that stands where soft tokens go. Vocabularies without one for
// videos have the image's there, which nobody reads either.
func placeholderOf(tok *tokenizer.Tokenizer, kind PartType) (int, error) {
	id, err := lookup(tok, markersOf[kind].placeholder)
	if err != nil && kind == Video {
		return lookup(tok, markersOf[Image].placeholder)
	}
	return id, err
}

// lookup finds a control token.
func lookup(tok *tokenizer.Tokenizer, marker string) (int, error) {
	id, ok := tok.Lookup(marker)
	if !ok || !tok.IsControl(id) {
		return 0, fmt.Errorf("%w: %s (is this a Gemma 4 or Gemma 3 model?)", ErrVocabulary, marker)
	}
	return id, nil
}
