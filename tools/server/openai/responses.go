package openai

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// responses answers POST /v1/responses. Nothing is kept of it.
func (a *api) responses(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := a.Limit(r.Context())
	defer cancel()
	var in responseRequest
	if err := wire.Read(w, r, a.mostBody, &in); err != nil {
		Refuse(w, err)
		return
	}
	entry, err := a.find(in.Model)
	if err != nil {
		Refuse(w, err)
		return
	}
	request, err := in.request(entry, wire.Client(r))
	if err != nil {
		Refuse(w, err)
		return
	}
	wire.Patient(w)
	open, err := a.use(ctx, entry)
	if err != nil {
		Refuse(w, err)
		return
	}
	defer open.Done()
	out := newResponse(in)
	if in.Stream {
		out.stream = wire.Events(w)
	}
	out.answer(w, aboutForm(a.Answer(ctx, open, request), request, "text.format"))
}

// outputJSON is an item of the output: a message, a call or a thought.
type outputJSON struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Status    string         `json:"status,omitempty"`
	Role      string         `json:"role,omitempty"`
	Content   *[]contentJSON `json:"content,omitempty"`
	Summary   *[]summaryJSON `json:"summary,omitempty"`
	CallID    string         `json:"call_id,omitempty"`
	Name      string         `json:"name,omitempty"`
	Arguments *string        `json:"arguments,omitempty"`
}

type contentJSON struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
	LogProbs    []any  `json:"logprobs"`
}

type summaryJSON struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type responseUsageJSON struct {
	InputTokens  int `json:"input_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens  int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens int `json:"total_tokens"`
}

type responseJSON struct {
	ID                string             `json:"id"`
	Object            string             `json:"object"`
	CreatedAt         int64              `json:"created_at"`
	Status            string             `json:"status"`
	Error             *errorBody         `json:"error"`
	IncompleteDetails map[string]string  `json:"incomplete_details"`
	Instructions      *string            `json:"instructions"`
	MaxOutputTokens   *int               `json:"max_output_tokens"`
	Model             string             `json:"model"`
	Output            []outputJSON       `json:"output"`
	ParallelToolCalls bool               `json:"parallel_tool_calls"`
	Previous          *string            `json:"previous_response_id"`
	Reasoning         map[string]any     `json:"reasoning"`
	Store             bool               `json:"store"`
	Temperature       *float32           `json:"temperature"`
	TopP              *float32           `json:"top_p"`
	Text              map[string]any     `json:"text"`
	ToolChoice        any                `json:"tool_choice"`
	Tools             any                `json:"tools"`
	Truncation        string             `json:"truncation"`
	Usage             *responseUsageJSON `json:"usage"`
	Metadata          any                `json:"metadata"`
}

// response makes a response of events.
type response struct {
	out      responseJSON
	stream   *wire.Stream // nil where it is sent as a whole
	number   int          // of the next event
	open     bool         // whether the last item goes on
	text     strings.Builder
	thoughts int // tokens
}

func newResponse(in responseRequest) *response {
	out := responseJSON{
		ID: newID("resp_"), Object: "response", CreatedAt: time.Now().Unix(), Status: "in_progress", Model: in.Model,
		Output: []outputJSON{}, ParallelToolCalls: in.ParallelToolCalls == nil || *in.ParallelToolCalls,
		MaxOutputTokens: in.MaxOutputTokens, Temperature: in.Temperature, TopP: in.TopP, ToolChoice: "auto",
		Tools: []any{}, Truncation: "disabled", Metadata: map[string]string{},
		Reasoning: map[string]any{"effort": nil, "summary": nil},
		Text:      map[string]any{"format": map[string]any{"type": "text"}},
	}
	if in.Instructions != "" {
		out.Instructions = &in.Instructions
	}
	if !isNull(in.ToolChoice) {
		out.ToolChoice = in.ToolChoice
	}
	if len(in.Tools) > 0 {
		out.Tools = in.Tools
	}
	if !isNull(in.Metadata) {
		out.Metadata = in.Metadata
	}
	if in.Text.Format != nil {
		out.Text["format"] = in.Text.Format.shown()
	}
	if in.Reasoning.Effort != "" {
		out.Reasoning["effort"] = in.Reasoning.Effort
	}
	return &response{out: out}
}

// shown is the format as a response repeats it.
func (f *responseFormat) shown() map[string]any {
	out := map[string]any{"type": f.Type}
	if !isNull(f.Schema) {
		out["schema"], out["name"], out["strict"] = f.Schema, cmp.Or(f.Name, "answer"), true
	}
	return out
}

// send sends an event of a stream.
func (r *response) send(name string, fields map[string]any) bool {
	if r.stream == nil {
		return true
	}
	fields["type"], fields["sequence_number"] = name, r.number
	r.number++
	return r.stream.Event(name, fields) == nil
}

func (r *response) answer(w http.ResponseWriter, events events) {
	begun := false
	for e, err := range events {
		if err != nil {
			r.fail(w, err)
			return
		}
		if !begun {
			begun = true
			if !r.send("response.created", map[string]any{"response": r.out}) ||
				!r.send("response.in_progress", map[string]any{"response": r.out}) {
				return
			}
		}
		if !r.take(e) {
			return
		}
	}
	if r.stream == nil {
		wire.JSON(w, http.StatusOK, r.out)
	}
}

func (r *response) fail(w http.ResponseWriter, err error) {
	if r.stream == nil || !r.stream.Begun() {
		Refuse(w, err)
		return
	}
	body := newError(err).Error
	r.out.Status, r.out.Error = "failed", &body
	r.send("response.failed", map[string]any{"response": r.out})
}

// take adds an event; false where the client has left.
func (r *response) take(e answer.Event) bool {
	switch e.Kind {
	case chat.TextEvent, chat.MalformedEvent:
		return r.begin("message") && r.delta("response.output_text.delta", "content_index", e.Text)
	case chat.ThinkingEvent:
		r.thoughts += len(e.Tokens)
		return r.begin("reasoning") && r.delta("response.reasoning_summary_text.delta", "summary_index", e.Text)
	case chat.CallEvent:
		return r.call(e.Call)
	case chat.DoneEvent:
		return r.done(e)
	}
	return true
}

// last is the item that goes on, with its place.
func (r *response) last() (*outputJSON, int) {
	return &r.out.Output[len(r.out.Output)-1], len(r.out.Output) - 1
}

// begin begins an item of text, unless one goes on.
func (r *response) begin(kind string) bool {
	if r.open {
		if item, _ := r.last(); item.Type == kind {
			return true
		}
		if !r.end() {
			return false
		}
	}
	item := outputJSON{ID: newID("rs_"), Type: kind, Summary: &[]summaryJSON{}}
	if kind == "message" {
		item = outputJSON{ID: newID("msg_"), Type: kind, Status: "in_progress", Role: chat.Assistant,
			Content: &[]contentJSON{}}
	}
	r.out.Output = append(r.out.Output, item)
	r.open = true
	_, at := r.last()
	if !r.send("response.output_item.added", map[string]any{"output_index": at, "item": item}) {
		return false
	}
	if kind == "message" {
		return r.send("response.content_part.added", map[string]any{"item_id": item.ID, "output_index": at,
			"content_index": 0, "part": newContent("")})
	}
	return r.send("response.reasoning_summary_part.added", map[string]any{"item_id": item.ID, "output_index": at,
		"summary_index": 0, "part": summaryJSON{Type: "summary_text"}})
}

func newContent(text string) contentJSON {
	return contentJSON{Type: "output_text", Text: text, Annotations: []any{}, LogProbs: []any{}}
}

func (r *response) delta(name, index, text string) bool {
	r.text.WriteString(text)
	item, at := r.last()
	return r.send(name, map[string]any{"item_id": item.ID, "output_index": at, index: 0, "delta": text,
		"logprobs": []any{}})
}

// end ends the item of text that goes on.
func (r *response) end() bool {
	if !r.open {
		return true
	}
	r.open = false
	text := r.text.String()
	r.text.Reset()
	item, at := r.last()
	fields := func(more map[string]any) map[string]any {
		more["item_id"], more["output_index"] = item.ID, at
		return more
	}
	ok := false
	if item.Type == "message" {
		content := newContent(text)
		item.Content, item.Status = &[]contentJSON{content}, "completed"
		ok = r.send("response.output_text.done", fields(map[string]any{"content_index": 0, "text": text,
			"logprobs": []any{}})) &&
			r.send("response.content_part.done", fields(map[string]any{"content_index": 0, "part": content}))
	} else {
		summary := summaryJSON{"summary_text", text}
		item.Summary = &[]summaryJSON{summary}
		ok = r.send("response.reasoning_summary_text.done", fields(map[string]any{"summary_index": 0, "text": text})) &&
			r.send("response.reasoning_summary_part.done", fields(map[string]any{"summary_index": 0, "part": summary}))
	}
	return ok && r.send("response.output_item.done", map[string]any{"output_index": at, "item": *item})
}

func (r *response) call(call chat.ToolCall) bool {
	if !r.end() {
		return false
	}
	arguments, none := text(call.Arguments), ""
	item := outputJSON{
		ID: newID("fc_"), Type: "function_call", Status: "in_progress", CallID: newID("call_"), Name: call.Name,
		Arguments: &none,
	}
	at := len(r.out.Output)
	if !r.send("response.output_item.added", map[string]any{"output_index": at, "item": item}) {
		return false
	}
	about := func(name, field string) bool {
		return r.send(name, map[string]any{"item_id": item.ID, "output_index": at, field: arguments, "name": call.Name})
	}
	item.Status, item.Arguments = "completed", &arguments
	r.out.Output = append(r.out.Output, item)
	return about("response.function_call_arguments.delta", "delta") &&
		about("response.function_call_arguments.done", "arguments") &&
		r.send("response.output_item.done", map[string]any{"output_index": at, "item": item})
}

func (r *response) done(e answer.Event) bool {
	if len(r.out.Output) == 0 && !r.begin("message") { // an empty answer is one, too
		return false
	}
	if !r.end() {
		return false
	}
	r.out.Status = "completed"
	name := "response.completed"
	if e.Reason == chat.ReasonLength || e.Reason == chat.ReasonRepetition {
		r.out.Status, r.out.IncompleteDetails = "incomplete", map[string]string{"reason": "max_output_tokens"}
		name = "response.incomplete"
	}
	if u := e.Usage; u != nil {
		usage := &responseUsageJSON{InputTokens: u.Prompt, OutputTokens: u.Answer, TotalTokens: u.Prompt + u.Answer}
		usage.InputDetails.Cached, usage.OutputDetails.Reasoning = u.Prompt-u.Computed, r.thoughts
		r.out.Usage = usage
	}
	return r.send(name, map[string]any{"response": r.out})
}
