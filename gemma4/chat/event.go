package chat

import "strings"

// Kind says what an event tells.
type Kind int

// The kinds of events.
const (
	// TextEvent brings some of the answer's text.
	TextEvent Kind = iota + 1
	// ThinkingEvent brings some of what the model thinks before it answers.
	ThinkingEvent
	// CallEvent brings a whole tool call.
	CallEvent
	// MalformedEvent brings a tool call that the model wrote so that it cannot be
	// read: Err says why, Text is how it reads.
	MalformedEvent
	// DoneEvent is the last one and brings the reason.
	DoneEvent
)

// Event is something that an answer brought.
type Event struct {
	Kind Kind
	Text string
	Call ToolCall
	// Repairs, of a CallEvent, are what had to be mended of the call; see RepairCall.
	Repairs []string
	Err     error  // wraps ErrCall
	Reason  Reason // of DoneEvent
	Stop    string // with ReasonStopString: which one
	// InCall, of DoneEvent, says that the answer was cut within a tool call. Nothing of
	// that call is given out.
	InCall bool
}

// Speaks says whether the event brings a word of the answer, or a call.
func (e Event) Speaks() bool {
	return e.Kind == CallEvent || e.Kind == MalformedEvent ||
		e.Kind == TextEvent && strings.TrimSpace(e.Text) != ""
}

// Reason is why an answer ended.
type Reason string

// IsCut says whether something other than the model, or a stop string, ended the answer.
func (r Reason) IsCut() bool {
	return r == ReasonLength || r == ReasonRepetition || r == ReasonCancelled
}

// The reasons.
const (
	ReasonStop       Reason = "stop"        // the model ended its turn
	ReasonToolCalls  Reason = "tool_calls"  // the model waits for results
	ReasonRepetition Reason = "repetition"  // it said the same over and over again
	ReasonStopString Reason = "stop_string" // the caller's stop string came
	ReasonLength     Reason = "length"      // no more tokens were allowed
	ReasonCancelled  Reason = "cancelled"   // the caller wanted no more
)
