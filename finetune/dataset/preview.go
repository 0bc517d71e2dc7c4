package dataset

import (
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// Piece is a stretch of an example as the model reads it: what it is given, or
// what it has to say.
type Piece struct {
	Text   string `json:"text"`
	Target bool   `json:"target,omitempty"`
}

// Preview spells an example, control tokens included, with its targets apart.
func Preview(tok *tokenizer.Tokenizer, e *Example) ([]Piece, error) {
	var pieces []Piece
	for first := 0; first < len(e.Tokens); {
		end := first + 1
		for end < len(e.Tokens) && e.isTarget(end) == e.isTarget(first) {
			end++
		}
		ids := make([]int, 0, end-first)
		for _, t := range e.Tokens[first:end] {
			ids = append(ids, int(t.ID))
		}
		text, err := tok.Decode(ids, tokenizer.DecodeOptions{})
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, Piece{Text: text, Target: e.isTarget(first)})
		first = end
	}
	return pieces, nil
}

// isTarget says whether token i is one that the model has to say.
func (e *Example) isTarget(i int) bool { return i > 0 && e.Targets[i-1] != tape.NoTarget }
