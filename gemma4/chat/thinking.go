package chat

import "strings"

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
