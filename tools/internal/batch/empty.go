package batch

import (
	"encoding/json"
	"slices"
	"strings"
)

// said is an answer as OpenAI's chat and Ollama's APIs have it.
type said struct {
	Message struct {
		Content string            `json:"content"`
		Calls   []json.RawMessage `json:"tool_calls"`
	} `json:"message"`
	Text     string            `json:"text"`     // of OpenAI's completions
	Response string            `json:"response"` // of Ollama's
	Calls    []json.RawMessage `json:"tool_calls"`
	Finish   string            `json:"finish_reason"`
	Done     string            `json:"done_reason"`
}

func (s said) isEmpty() bool {
	return (s.Finish == "stop" || s.Done == "stop") && len(s.Calls)+len(s.Message.Calls) == 0 &&
		strings.TrimSpace(s.Message.Content+s.Text+s.Response) == ""
}

// part is one of an answer of Anthropic's, or of OpenAI's responses, where it has parts in turn.
type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Content []part `json:"content"`
}

func (p part) speaks() bool {
	return p.Type == "tool_use" || p.Type == "function_call" || strings.TrimSpace(p.Text) != "" ||
		slices.ContainsFunc(p.Content, part.speaks)
}

// isEmpty tells that an answer, or one of several to a request, ended before a word, and at no limit.
func isEmpty(url string, body []byte) bool {
	switch url {
	case "/v1/chat/completions", "/v1/completions":
		b := decoded[struct{ Choices []said }](body)
		return slices.ContainsFunc(b.Choices, said.isEmpty)
	case "/api/chat", "/api/generate":
		return decoded[said](body).isEmpty()
	case "/v1/responses":
		b := decoded[struct {
			Status string
			Output []part
		}](body)
		return b.Status == "completed" && !slices.ContainsFunc(b.Output, part.speaks)
	case "/v1/messages":
		b := decoded[struct {
			Reason  string `json:"stop_reason"`
			Content []part
		}](body)
		return b.Reason == "end_turn" && !slices.ContainsFunc(b.Content, part.speaks)
	}
	return false
}

// decoded reads a body, as far as it is of this form.
func decoded[T any](body []byte) (b T) {
	_ = json.Unmarshal(body, &b) // of another form, it has nothing of this one
	return b
}
