package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// EventKind says what an Event tells.
type EventKind int

// The kinds of events, with the numbers that C has.
const (
	PrefillEvent   EventKind = iota + 1 // Done of Total tokens of the prompt are computed
	TextEvent                           // Text goes on
	ThinkingEvent                       // Text is thought
	ToolCallEvent                       // Call is whole
	MalformedEvent                      // Text was meant as a tool call; Error says what is wrong
	DoneEvent                           // the answer has ended
	ForgottenEvent                      // the oldest Done of Total messages were left out
)

// Event is something that an answer brought.
type Event struct {
	Kind        EventKind
	Text        string
	Error       string
	Call        chat.ToolCall
	Repairs     []string // of Call: what had to be mended
	Done, Total int
	Tokens      []sample.Choice // since the event before, with log-probabilities where they were asked for
}

// Result is how an answer went.
type Result struct {
	Reason chat.Reason
	InCall bool // it was cut within a tool call, of which nothing is kept
	Usage  gemma4.Usage
}

// gathered is what came of an answer.
type gathered struct {
	text, thoughts strings.Builder
	calls          []chat.ToolCall
}

// take gathers an event of the model and makes one for the caller of it. newID
// names tool calls.
func (g *gathered) take(e gemma4.Event, newID func() string) Event {
	out := Event{Text: e.Text, Tokens: e.Tokens}
	switch e.Kind {
	case chat.TextEvent:
		out.Kind = TextEvent
		g.text.WriteString(e.Text)
	case chat.ThinkingEvent:
		out.Kind = ThinkingEvent
		g.thoughts.WriteString(e.Text)
	case chat.CallEvent:
		out.Kind, out.Call, out.Repairs = ToolCallEvent, e.Call, e.Repairs
		if out.Call.ID == "" {
			out.Call.ID = newID()
		}
		if len(out.Call.Arguments) == 0 {
			out.Call.Arguments = json.RawMessage("{}")
		}
		g.calls = append(g.calls, out.Call)
	case chat.MalformedEvent:
		out.Kind, out.Error = MalformedEvent, e.Err.Error()
	case chat.DoneEvent:
		out.Kind = DoneEvent
	}
	return out
}

// message is the answer as a message of a conversation.
func (g *gathered) message() chat.Message {
	m := chat.Message{Role: chat.Assistant, Reasoning: g.thoughts.String(), ToolCalls: g.calls}
	if g.text.Len() > 0 || len(g.calls) == 0 {
		m.Content = chat.Text(g.text.String())
	}
	return m
}

// LastMessage is the session's last answer as a JSON message, to be put behind
// the others of a conversation.
func (e *Engine) LastMessage(h Handle) ([]byte, error) {
	m, err := e.lastMessage(h)
	if err != nil {
		return nil, err
	}
	if m.Role == "" {
		return nil, fmt.Errorf("%w: this session has not answered yet", ErrArgument)
	}
	return json.Marshal(m)
}
