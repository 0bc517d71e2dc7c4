package tokenizer

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// TokenType says what a piece of the vocabulary is for, with GGUF's numbers.
type TokenType int32

// The types of `tokenizer.ggml.token_type`.
const (
	Normal      TokenType = 1
	Unknown     TokenType = 2
	Control     TokenType = 3
	UserDefined TokenType = 4
	Unused      TokenType = 5
	Byte        TokenType = 6
)

// None stands for a token that the vocabulary does not name.
const None = -1

// Vocabulary is what a model file says about its tokenizer.
type Vocabulary struct {
	Model  string      // "gemma4" or "llama"
	Tokens []string    // text of each piece; its index is the id
	Scores []float32   // one for each piece, or none
	Types  []TokenType // one for each piece, or none
	Merges []string    // "left right", by rank; may be empty for "llama"

	BOS, PAD, UNK, EOT int   // ids, or None
	EOS                []int // every id that ends a text

	AddBOS         bool // whether a prompt starts with BOS
	AddEOS         bool // whether a text to embed ends with the first of EOS
	AddSpacePrefix bool // whether text is encoded as if a space stood before it
}

// maxTokens keeps ids and their index within 32 bits.
const maxTokens = 1 << 28

// validate refuses what could not be worked with; it looks at no merges.
func (v *Vocabulary) validate() error {
	switch {
	case v.Model != "gemma4" && v.Model != "llama":
		return fmt.Errorf("%w: %q (want gemma4 or llama)", ErrModel, v.Model)
	case len(v.Tokens) == 0:
		return fmt.Errorf("%w: it has no pieces", ErrVocabulary)
	case len(v.Tokens) > maxTokens || len(v.Merges) > maxTokens:
		return fmt.Errorf("%w: %d pieces and %d merges are too many", ErrVocabulary, len(v.Tokens), len(v.Merges))
	case len(v.Types) != 0 && len(v.Types) != len(v.Tokens):
		return fmt.Errorf("%w: %d types for %d pieces", ErrVocabulary, len(v.Types), len(v.Tokens))
	case len(v.Scores) != 0 && len(v.Scores) != len(v.Tokens):
		return fmt.Errorf("%w: %d scores for %d pieces", ErrVocabulary, len(v.Scores), len(v.Tokens))
	case len(v.Merges) == 0 && (v.Model != "llama" || len(v.Scores) == 0):
		return fmt.Errorf("%w: a %s tokenizer needs merges (or, for llama, scores)", ErrVocabulary, v.Model)
	}
	if err := v.validateIDs(); err != nil {
		return err
	}
	for id, s := range v.Scores {
		if math.IsNaN(float64(s)) {
			return fmt.Errorf("%w: the score of piece %d is not a number", ErrVocabulary, id)
		}
	}
	for id, t := range v.Types {
		if t < Normal || t > Byte {
			return fmt.Errorf("%w: piece %d has the unknown type %d", ErrVocabulary, id, t)
		}
	}
	return nil
}

func (v *Vocabulary) validateIDs() error {
	named := map[string]int{"bos": v.BOS, "padding": v.PAD, "unknown": v.UNK, "eot": v.EOT}
	for name, id := range named {
		if id != None && !v.has(id) {
			return fmt.Errorf("%w: the %s token %d is not among %d pieces", ErrVocabulary, name, id, len(v.Tokens))
		}
	}
	for _, id := range v.EOS {
		if !v.has(id) {
			return fmt.Errorf("%w: the eos token %d is not among %d pieces", ErrVocabulary, id, len(v.Tokens))
		}
	}
	return nil
}

// endOfTurn is how Gemma 3 spells the token that ends a turn. Its files do not say so.
const endOfTurn = "<end_of_turn>"

// findEndOfTurn names the token that ends a turn, where the file does not.
func (v *Vocabulary) findEndOfTurn(known *pieces) {
	if id, ok := known.id(endOfTurn); ok && v.EOT == None {
		v.EOT = int(id)
	}
}

func (v *Vocabulary) has(id int) bool { return id >= 0 && id < len(v.Tokens) }

// typeOf is the type of a piece. A file without types has bytes by their
// spelling and control tokens by their being named.
func (v *Vocabulary) typeOf(id int, text string) TokenType {
	if len(v.Types) != 0 {
		return v.Types[id]
	}
	if id == v.UNK {
		return Unknown
	}
	if v.named(id) {
		return Control
	}
	if _, ok := parseByte(text); ok {
		return Byte
	}
	return Normal
}

// named says whether a piece has a role of its own.
func (v *Vocabulary) named(id int) bool {
	for _, eos := range v.EOS {
		if id == eos {
			return true
		}
	}
	return id == v.BOS || id == v.PAD || id == v.UNK || id == v.EOT
}

// parseByte reads the spelling of a byte piece, "<0x0A>".
func parseByte(text string) (byte, bool) {
	hex, ok := strings.CutPrefix(text, "<0x")
	if !ok || len(hex) != 3 || hex[2] != '>' {
		return 0, false
	}
	b, err := strconv.ParseUint(hex[:2], 16, 8)
	return byte(b), err == nil
}
