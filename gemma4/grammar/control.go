package grammar

import (
	"fmt"
	"slices"
)

// Controls are the control tokens that Gemma writes thoughts and tool calls with. Give the number of each.
type Controls struct {
	CallOpen  int // <|tool_call>
	CallClose int // <tool_call|>
	Quote     int // <|"|>, on both sides of a string in a call
	// Response is <|tool_response>, by which a model that called ends its turn. It is allowed behind calls alone,
	// unless it is one of the vocabulary's end tokens.
	Response     int
	ChannelOpen  int // <|channel>
	ChannelClose int // <channel|>
}

// A control token is walked by a byte of its own, which no UTF-8 text has.
const (
	callOpen byte = 0xF8 + iota
	callClose
	quoteMark
	responseOpen
	channelOpen
	channelClose

	firstMarker = callOpen
)

var markerBytes = []byte{callOpen, callClose, quoteMark, responseOpen, channelOpen, channelClose}

func isMarker(b byte) bool { return b >= firstMarker }

// NewVocabularyWith makes a vocabulary whose forms may have tool calls and thoughts. It is as NewVocabulary otherwise.
func NewVocabularyWith(pieces [][]byte, ends []int, controls Controls) (*Vocabulary, error) {
	var list []int32
	for _, id := range []int{controls.CallOpen, controls.CallClose, controls.Quote, controls.Response,
		controls.ChannelOpen, controls.ChannelClose} {
		if id < 0 || id >= len(pieces) || slices.Contains(list, int32(id)) {
			return nil, fmt.Errorf("%w: control token %d is given twice, or is not one of its %d pieces",
				ErrVocabulary, id, len(pieces))
		}
		if id != controls.Response && slices.Contains(ends, id) {
			return nil, fmt.Errorf("%w: control token %d cannot be an end token, too", ErrVocabulary, id)
		}
		list = append(list, int32(id))
	}
	return newVocabulary(pieces, ends, list)
}

// needControls refuses a form that the vocabulary has no tokens for.
func (v *Vocabulary) needControls(what string) error {
	if len(v.controls) == 0 {
		return fmt.Errorf("%w: it names no control tokens, which %s; make it by NewVocabularyWith", ErrVocabulary, what)
	}
	return nil
}

func (r *regexes) marker(b byte) regexID { return r.set(setRange(int(b), int(b))) }

// freeText is any text, whole characters or not.
func (r *regexes) freeText() regexID { return r.star(r.set(setRange(0, int(firstMarker)-1))) }

// thoughtFirst lets a thought come before what a program holds.
func (p *program) thoughtFirst(v *Vocabulary) error {
	if err := v.needControls("a thought begins and ends with"); err != nil {
		return err
	}
	answer := p.start
	p.start = p.rule()
	p.alternative(p.start, ruleSymbol(answer))
	p.alternative(p.start, ownTerm(p.own.marker(channelOpen)), v.freeText, ownTerm(p.own.marker(channelClose)),
		ruleSymbol(answer))
	return nil
}

// onlyMarkers tells whether no byte of text is in a set.
func (s *byteSet) onlyMarkers() bool {
	return s[0]|s[1]|s[2] == 0 && s[3]<<(256-int(firstMarker)) == 0
}
