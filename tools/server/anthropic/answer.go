package anthropic

import (
	"encoding/json"
	"iter"
	"net/http"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/wire"
)

type events = iter.Seq2[answer.Event, error]

// blockJSON is a part of an answer.
type blockJSON struct {
	Type      string           `json:"type"`
	Text      *string          `json:"text,omitempty"`
	Thinking  *string          `json:"thinking,omitempty"`
	Signature *string          `json:"signature,omitempty"`
	ID        string           `json:"id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Input     *json.RawMessage `json:"input,omitempty"`
}

type usageJSON struct {
	InputTokens   int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	OutputTokens  int `json:"output_tokens"`
}

type messageJSON struct {
	ID           string      `json:"id"`
	Type         string      `json:"type"`
	Role         string      `json:"role"`
	Model        string      `json:"model"`
	Content      []blockJSON `json:"content"`
	StopReason   *string     `json:"stop_reason"`
	StopSequence *string     `json:"stop_sequence"`
	Usage        usageJSON   `json:"usage"`
}

// reasons are Anthropic's.
var reasons = map[chat.Reason]string{
	chat.ReasonStop: "end_turn", chat.ReasonStopString: "stop_sequence", chat.ReasonLength: "max_tokens",
	chat.ReasonToolCalls: "tool_use", chat.ReasonCancelled: "end_turn", chat.ReasonRepetition: "max_tokens",
}

// built makes a message of events.
type built struct {
	out   messageJSON
	calls bool
}

func newMessage(in messagesRequest) *built {
	return &built{out: messageJSON{
		ID: newID("msg_"), Type: "message", Role: chat.Assistant, Model: in.Model, Content: []blockJSON{},
	}}
}

// signature stands where Anthropic signs thoughts; here nobody does.
const signature = "none"

// textBlock is a block of a text or a thought.
func textBlock(kind chat.Kind, text string) blockJSON {
	if kind == chat.ThinkingEvent {
		signed := signature
		return blockJSON{Type: "thinking", Thinking: &text, Signature: &signed}
	}
	return blockJSON{Type: "text", Text: &text}
}

func callBlock(call chat.ToolCall, input json.RawMessage) blockJSON {
	return blockJSON{Type: "tool_use", ID: newID("toolu_"), Name: call.Name, Input: &input}
}

func arguments(call chat.ToolCall) json.RawMessage {
	if len(call.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return call.Arguments
}

// take adds an event.
func (m *built) take(e answer.Event) {
	last := len(m.out.Content) - 1
	switch e.Kind {
	case chat.TextEvent, chat.MalformedEvent:
		if last >= 0 && m.out.Content[last].Type == "text" {
			*m.out.Content[last].Text += e.Text
			return
		}
		m.out.Content = append(m.out.Content, textBlock(e.Kind, e.Text))
	case chat.ThinkingEvent:
		if last >= 0 && m.out.Content[last].Type == "thinking" {
			*m.out.Content[last].Thinking += e.Text
			return
		}
		m.out.Content = append(m.out.Content, textBlock(e.Kind, e.Text))
	case chat.CallEvent:
		m.calls = true
		m.out.Content = append(m.out.Content, callBlock(e.Call, arguments(e.Call)))
	case chat.DoneEvent:
		m.done(e)
	}
}

func (m *built) done(e answer.Event) {
	reason := reasons[e.Reason]
	if m.calls && reason == "end_turn" {
		reason = "tool_use"
	}
	m.out.StopReason = &reason
	if e.Reason == chat.ReasonStopString {
		m.out.StopSequence = &e.Stop
	}
	if u := e.Usage; u != nil {
		m.out.Usage = usageJSON{InputTokens: u.Computed, CacheRead: u.Prompt - u.Computed, OutputTokens: u.Answer}
	}
}

// whole sends the message when it is complete.
func (m *built) whole(w http.ResponseWriter, events events) {
	for e, err := range events {
		if err != nil {
			Refuse(w, err)
			return
		}
		m.take(e)
	}
	wire.JSON(w, http.StatusOK, m.out)
}
