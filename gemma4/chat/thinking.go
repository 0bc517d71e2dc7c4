package chat

import (
	"strings"

	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// thinkingText is the content of a channel: the text between its name, which
// is the first line, and the line break before its closing.
type thinkingText struct {
	named   bool // the first line is over
	pending string
	newline bool // a line break is held back
}

// add takes more text and returns what can be given out.
func (t *thinkingText) add(text string) string {
	if !t.named {
		t.pending += text
		name, rest, found := strings.Cut(t.pending, "\n")
		if !found {
			return ""
		}
		t.named, t.pending = true, ""
		text = rest
		if trim(name) != thought {
			text = name + "\n" + rest
		}
	}
	return t.withoutLastBreak(text)
}

// withoutLastBreak holds back a line break at the end.
func (t *thinkingText) withoutLastBreak(text string) string {
	if text == "" {
		return ""
	}
	if t.newline {
		text = "\n" + text
	}
	text, t.newline = strings.CutSuffix(text, "\n")
	return text
}

// end closes the channel and returns what was held back and is no part of the
// format.
func (t *thinkingText) end() string {
	text := t.pending
	if trim(text) == thought {
		text = ""
	}
	*t = thinkingText{}
	return text
}

// Thinking tells where the thoughts in an answer stand, in tokens.
type Thinking struct {
	// Open and Close stand around a thought.
	Open, Close int
	// Wished says that the prompt asks for a thought which is still to come, Begun that it
	// ends within one.
	Wished, Begun bool
}

// ThinkingIn looks at a prompt of a whole conversation. It fails with ErrVocabulary if the
// vocabulary lacks the format's control tokens. In a format without thoughts there are none.
func (t Template) ThinkingIn(tok *tokenizer.Tokenizer, prompt []int32) (in Thinking, err error) {
	if !t.HasTools() {
		return Thinking{Open: tokenizer.None, Close: tokenizer.None}, nil
	}
	var wish, turn, response int
	for _, marker := range []struct {
		text string
		id   *int
	}{{channelOpen, &in.Open}, {channelClose, &in.Close}, {think, &wish}, {turnOpen, &turn},
		{responseClose, &response}} {
		if *marker.id, err = lookup(tok, marker.text); err != nil {
			return Thinking{}, err
		}
	}
	over := false // the thought that the wish is for
	for _, id := range prompt {
		switch int(id) {
		case wish:
			in.Wished = true
		case turn, response: // behind each of these, the model may think again
			in.Begun, over = false, false
		case in.Open:
			in.Begun = true
		case in.Close:
			in.Begun, over = false, true
		}
	}
	in.Wished = in.Wished && !over
	return in, nil
}

// ControlsOf are the control tokens that thoughts and calls are written with. It fails with
// ErrVocabulary if the vocabulary lacks one.
func ControlsOf(tok *tokenizer.Tokenizer) (c grammar.Controls, err error) {
	for _, marker := range []struct {
		text string
		id   *int
	}{{callOpen, &c.CallOpen}, {callClose, &c.CallClose}, {quote, &c.Quote}, {responseOpen, &c.Response},
		{channelOpen, &c.ChannelOpen}, {channelClose, &c.ChannelClose}} {
		if *marker.id, err = lookup(tok, marker.text); err != nil {
			return grammar.Controls{}, err
		}
	}
	return c, nil
}
