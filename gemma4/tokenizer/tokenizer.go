package tokenizer

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Tokenizer is prepared once from a vocabulary; its methods may be called
// from several goroutines at once.
type Tokenizer struct {
	vocabulary Vocabulary // without tokens, which known holds, merges and scores, which ranks holds
	known      *pieces
	ranks      ranks
	joins      *joinFilter
	special    *specials
	kinds      []kind
	longest    int        // bytes of the longest token
	ascii      [128]int32 // pieces of single ASCII characters, or None
	bytes      [256]int32 // byte pieces, or None

	// bytewise says that bytes stand in for unknown characters before merging
	// (so that they can be merged too), as with merges; with scores it is after.
	bytewise bool
}

// kind is what encoding and decoding need to know of a piece.
type kind uint8

const (
	ordinary kind = iota // made from text by merging
	literal              // user-defined, and harmless: matched in any text
	control              // matched in trusted text alone
	byteFallback
	unmatched // unknown and unused pieces
)

// New prepares a tokenizer. It keeps the vocabulary's slices but those of texts, of which it
// makes a copy, and does not change them.
func New(v Vocabulary) (*Tokenizer, error) { return newTokenizer(v, "", func() {}) }

// newTokenizer takes the texts of the tokens from joined, where they lie there one
// behind the other.
func newTokenizer(v Vocabulary, joined string, between func()) (*Tokenizer, error) {
	if err := v.validate(); err != nil {
		return nil, err
	}
	known, err := newPieces(v.Tokens, joined)
	if err != nil {
		return nil, err
	}
	between()
	v.findEndOfTurn(known)
	t := &Tokenizer{vocabulary: v, known: known, kinds: make([]kind, len(v.Tokens))}
	t.vocabulary.Tokens, t.vocabulary.Merges, t.vocabulary.Scores = nil, nil, nil
	for id := range t.kinds {
		t.kinds[id] = v.kindOf(id, v.Tokens[id])
		t.longest = max(t.longest, len(v.Tokens[id]))
	}
	if err := t.indexCharacters(); err != nil {
		return nil, err
	}
	t.special = newSpecials(known, t.kinds, len(v.Merges) == 0)
	if err := t.rankPieces(v, between); err != nil {
		return nil, err
	}
	return t, nil
}

func (v *Vocabulary) kindOf(id int, text string) kind {
	switch v.typeOf(id, text) {
	case Control:
		return control
	case UserDefined:
		if v.named(id) || !isLiteral(text) {
			return control
		}
		return literal
	case Byte:
		return byteFallback
	case Unknown, Unused:
		return unmatched
	default:
		return ordinary
	}
}

func (t *Tokenizer) indexCharacters() error {
	for b := range t.bytes {
		t.bytes[b] = None
	}
	for id, kind := range t.kinds {
		if kind != byteFallback {
			continue
		}
		text := t.known.of(int32(id))
		b, ok := parseByte(text)
		if !ok {
			return fmt.Errorf("%w: piece %d is of type byte and spelt %.40q (want <0x00> to <0xFF>)", ErrVocabulary, id,
				text)
		}
		t.bytes[b] = int32(id)
	}
	if t.vocabulary.UNK == None && slices.Contains(t.bytes[:], None) {
		return fmt.Errorf("%w: it has neither all 256 byte pieces nor an unknown token to fall back to", ErrVocabulary)
	}
	for c := range t.ascii {
		t.ascii[c] = None
		if id, ok := t.known.id(string(rune(c))); ok && t.matchable(id) {
			t.ascii[c] = id
		}
	}
	return nil
}

func (t *Tokenizer) rankPieces(v Vocabulary, between func()) (err error) {
	if len(v.Merges) == 0 {
		t.joins = newJoinFilter(len(v.Tokens))
		t.ranks = newScoreRanks(v.Scores, t.known, t.matchable, t.joins)
		return nil
	}
	t.bytewise = true
	t.joins = newJoinFilter(len(v.Merges))
	t.ranks, err = newMergeRanks(v.Merges, t.known, t.matchable, t.joins, between)
	return err
}

// matchable says whether plain text may become this piece.
func (t *Tokenizer) matchable(id int32) bool {
	return t.kinds[id] == ordinary || t.kinds[id] == literal
}

// Len is the number of pieces.
func (t *Tokenizer) Len() int { return len(t.kinds) }

// Longest is how many bytes of text a token stands for at most: a text of n bytes has n/Longest tokens or more.
func (t *Tokenizer) Longest() int { return max(t.longest, utf8.UTFMax) }

func (t *Tokenizer) has(id int) bool { return id >= 0 && id < len(t.kinds) }

// Lookup finds a token's id by its text as it stands in the vocabulary
// ("<|image|>", "▁the").
func (t *Tokenizer) Lookup(text string) (id int, ok bool) {
	found, ok := t.known.id(text)
	return int(found), ok
}

// TokenText is a token's text as it stands in the vocabulary, empty for an id
// outside it.
func (t *Tokenizer) TokenText(id int) string {
	if !t.has(id) {
		return ""
	}
	return t.known.of(int32(id))
}

// Type is a token's type, 0 for an id outside the vocabulary.
func (t *Tokenizer) Type(id int) TokenType {
	if !t.has(id) {
		return 0
	}
	return t.vocabulary.typeOf(id, t.TokenText(id))
}

// IsControl says whether a token steers the model instead of standing for
// text: control tokens, the unknown token, and user-defined ones that are
// markup (see [Tokenizer.Encode]).
func (t *Tokenizer) IsControl(id int) bool {
	return t.has(id) && (t.kinds[id] == control || id == t.vocabulary.UNK)
}

// IsEOG says whether generation ends at this token: at any eos, or at the end
// of a turn.
func (t *Tokenizer) IsEOG(id int) bool {
	return id != None && (id == t.vocabulary.EOT || slices.Contains(t.vocabulary.EOS, id))
}

// EOG lists the ids at which generation ends, ascending.
func (t *Tokenizer) EOG() []int {
	ids := slices.Clone(t.vocabulary.EOS)
	if t.vocabulary.EOT != None {
		ids = append(ids, t.vocabulary.EOT)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// BOS is the token that begins a text, or None.
func (t *Tokenizer) BOS() int { return t.vocabulary.BOS }

// PAD is the token that fills a batch, or None.
func (t *Tokenizer) PAD() int { return t.vocabulary.PAD }

// UNK is the token for what cannot be encoded, or None.
func (t *Tokenizer) UNK() int { return t.vocabulary.UNK }

// EOT is the token that ends a turn, or None.
func (t *Tokenizer) EOT() int { return t.vocabulary.EOT }

// AddBOS says whether the model wants a prompt to start with BOS. Encoding
// never adds it: a chat template spells it out.
func (t *Tokenizer) AddBOS() bool { return t.vocabulary.AddBOS && t.vocabulary.BOS != None }

// EOS returns the first of the ids that end a text, or None.
func (t *Tokenizer) EOS() int {
	if len(t.vocabulary.EOS) == 0 {
		return None
	}
	return t.vocabulary.EOS[0]
}

// AddEOS says whether a text that is embedded ends with EOS.
func (t *Tokenizer) AddEOS() bool { return t.vocabulary.AddEOS && t.EOS() != None }
