package answers

import (
	"encoding/json"
	"io"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// jsonPrinter prints an answer's events, each as an object on a line of its own.
type jsonPrinter struct {
	out *json.Encoder
	tok *tokenizer.Tokenizer
}

func newJSONPrinter(w io.Writer, tok *tokenizer.Tokenizer) *jsonPrinter {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return &jsonPrinter{out, tok}
}

type Event struct {
	Type   string         `json:"type"` // text, thinking, tool_call, malformed_tool_call, done
	Text   string         `json:"text,omitempty"`
	Call   *chat.ToolCall `json:"tool_call,omitempty"`
	Error  string         `json:"error,omitempty"`
	Reason chat.Reason    `json:"reason,omitempty"`
	Stop   string         `json:"stop,omitempty"`
	InCall bool           `json:"in_call,omitempty"` // done: cut within a call
	Usage  *gemma4.Usage  `json:"usage,omitempty"`
	Tokens []tokenJSON    `json:"tokens,omitempty"`
}

type tokenJSON struct {
	ID      int32         `json:"id"`
	Text    string        `json:"text"`
	LogProb *float32      `json:"logprob,omitempty"`
	Top     []logProbJSON `json:"top_logprobs,omitempty"`
}

type logProbJSON struct {
	ID      int32   `json:"id"`
	Text    string  `json:"text"`
	LogProb float32 `json:"logprob"`
}

var eventTypes = map[chat.Kind]string{
	chat.TextEvent: "text", chat.ThinkingEvent: "thinking", chat.CallEvent: "tool_call",
	chat.MalformedEvent: "malformed_tool_call", chat.DoneEvent: "done",
}

func (p *jsonPrinter) event(e gemma4.Event) error {
	out := Event{Type: eventTypes[e.Kind], Text: e.Text, Reason: e.Reason, Stop: e.Stop, InCall: e.InCall, Usage: e.Usage}
	if e.Kind == chat.CallEvent {
		out.Call = &e.Call
	}
	if e.Err != nil {
		out.Error = e.Err.Error()
	}
	for _, c := range e.Tokens {
		out.Tokens = append(out.Tokens, p.token(c))
	}
	return p.out.Encode(out)
}

func (p *jsonPrinter) token(c sample.Choice) tokenJSON {
	out := tokenJSON{ID: c.Token, Text: tokenText(p.tok, c.Token)}
	if len(c.Top) > 0 {
		out.LogProb = &c.LogProb
	}
	for _, top := range c.Top {
		out.Top = append(out.Top, logProbJSON{top.Token, tokenText(p.tok, top.Token), top.LogProb})
	}
	return out
}

func (p *jsonPrinter) finish() error { return nil }
