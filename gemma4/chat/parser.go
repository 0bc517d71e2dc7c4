package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// ParserOptions change what a parser does.
type ParserOptions struct {
	// Template is the format that the answer is in.
	Template Template
	// Stop are strings that end the answer where they appear in its text, be
	// it across tokens. Nothing of them is given out. Thoughts and calls do
	// not count; empty strings are ignored.
	Stop []string
	// Prompt is what the answer follows, as token ids. It may have begun a thought,
	// which the answer then goes on with.
	Prompt []int32
}

// Parser turns the tokens of one answer into events. No control token ever
// shows in what it gives out.
type Parser struct {
	tok     *tokenizer.Tokenizer
	decoder *tokenizer.Decoder
	roles   map[int]func() []Event // what the format's control tokens do

	mode     mode
	stop     stopFinder
	thinking thinkingText
	call     strings.Builder // the call under way, with quoteByte for quotes
	calls    int             // whole calls so far
	done     bool
}

// mode is where in an answer a parser is.
type mode int

const (
	inText mode = iota
	inThinking
	inCall
)

// NewParser prepares for one answer. It fails with ErrVocabulary if the
// vocabulary lacks the format's control tokens.
func NewParser(tok *tokenizer.Tokenizer, opts ParserOptions) (*Parser, error) {
	p := &Parser{
		tok:     tok,
		decoder: tok.NewDecoder(tokenizer.DecodeOptions{SkipControl: true}),
		roles:   map[int]func() []Event{},
		stop:    newStopFinder(opts.Stop),
	}
	if !opts.Template.HasTools() {
		return p, nil
	}
	for marker, role := range map[string]func() []Event{
		channelOpen:  func() []Event { return p.enter(inThinking) },
		channelClose: func() []Event { return p.enter(inText) },
		callOpen:     func() []Event { return p.enter(inCall) },
		callClose:    p.endCall,
		responseOpen: func() []Event { return p.Finish(p.ownReason()) },
		quote:        p.addQuote,
	} {
		id, err := lookup(tok, marker)
		if err != nil {
			return nil, err
		}
		p.roles[id] = role
	}
	if err := p.goOn(opts.Prompt); err != nil {
		return nil, err
	}
	return p, nil
}

// goOn takes the thought that the prompt leaves open, if it does.
func (p *Parser) goOn(prompt []int32) error {
	open, err := lookup(p.tok, channelOpen)
	if err != nil {
		return err
	}
	for i, id := range slices.Backward(prompt) {
		switch {
		case int(id) == open:
			for _, id := range prompt[i:] {
				p.Push(int(id))
			}
			return nil
		case p.roles[int(id)] != nil || p.tok.IsEOG(int(id)):
			return nil
		}
	}
	return nil
}

// Done says whether the answer has ended; further tokens give no events.
func (p *Parser) Done() bool { return p.done }

// Push takes the next token and returns what it completes. The last events of
// an answer that ends by itself end in DoneEvent.
func (p *Parser) Push(id int) []Event {
	if p.done {
		return nil
	}
	role := p.roles[id]
	if role == nil && p.tok.IsEOG(id) {
		return p.Finish(p.ownReason())
	}
	events := p.take(p.decoder.Add(id))
	if p.done || role == nil { // done at a stop string
		return events
	}
	return append(events, role()...)
}

// Finish ends an answer from outside, at the limit of tokens or on the
// caller's wish, and returns what was held back and a DoneEvent; nothing of a
// call that is cut so. It returns nothing if the answer has ended already.
func (p *Parser) Finish(reason Reason) []Event {
	if p.done {
		return nil
	}
	events := p.take(p.decoder.Flush())
	if p.done {
		return events
	}
	end := Event{Kind: DoneEvent, Reason: reason, InCall: p.mode == inCall && reason.IsCut()}
	if !end.InCall {
		events = append(events, p.leave()...)
	}
	p.done = true
	return append(events, end)
}

// ownReason is why the model itself ends an answer.
func (p *Parser) ownReason() Reason {
	if p.calls > 0 {
		return ReasonToolCalls
	}
	return ReasonStop
}

// take adds text to what is under way.
func (p *Parser) take(text string) []Event {
	switch p.mode {
	case inThinking:
		return textEvents(ThinkingEvent, p.thinking.add(text))
	case inCall:
		p.call.WriteString(text)
		return nil
	}
	text, stop, found := p.stop.add(text)
	events := textEvents(TextEvent, text)
	if found {
		p.done = true
		events = append(events, Event{Kind: DoneEvent, Reason: ReasonStopString, Stop: stop})
	}
	return events
}

// enter changes the mode.
func (p *Parser) enter(m mode) []Event {
	events := p.leave()
	p.mode = m
	return events
}

// leave ends what is under way and gives out what was held back of it.
func (p *Parser) leave() []Event {
	was := p.mode
	p.mode = inText
	switch was {
	case inThinking:
		return textEvents(ThinkingEvent, p.thinking.end())
	case inCall:
		return p.malformed(fmt.Errorf("%w: it was not closed", ErrCall))
	default:
		return textEvents(TextEvent, p.stop.end())
	}
}

func (p *Parser) addQuote() []Event {
	if p.mode == inCall {
		p.call.WriteByte(quoteByte)
	}
	return nil
}

func (p *Parser) endCall() []Event {
	if p.mode != inCall {
		return nil
	}
	p.mode = inText
	call, repairs, err := repairCall(p.call.String())
	if err != nil {
		return p.malformed(err)
	}
	p.call.Reset()
	p.calls++
	call.ID = fmt.Sprintf("call_%d", p.calls)
	return []Event{{Kind: CallEvent, Call: call, Repairs: repairs}}
}

// malformed gives out the call under way as text.
func (p *Parser) malformed(err error) []Event {
	text := strings.ReplaceAll(p.call.String(), string([]byte{quoteByte}), `"`)
	p.call.Reset()
	return []Event{{Kind: MalformedEvent, Text: text, Err: err}}
}

// textEvents is one event, or none for no text.
func textEvents(kind Kind, text string) []Event {
	if text == "" {
		return nil
	}
	return []Event{{Kind: kind, Text: text}}
}
