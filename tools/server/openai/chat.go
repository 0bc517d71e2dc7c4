package openai

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// chat answers POST /v1/chat/completions.
func (a *api) chat(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := a.Limit(r.Context())
	defer cancel()
	var in chatRequest
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
	c := newCompletion(open, in, request)
	answers := aboutForm(a.Answer(ctx, open, request), request, "response_format")
	if in.Stream {
		c.stream(wire.Events(w), answers)
		return
	}
	c.whole(w, answers)
}

// usageJSON counts tokens.
type usageJSON struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// add counts one answer. The prompt of several counts once.
func (u *usageJSON) add(e *gemma4.Usage) {
	if e.Prompt > 0 {
		u.PromptTokens, u.PromptDetails.Cached = e.Prompt, e.Prompt-e.Computed
	}
	u.CompletionTokens += e.Answer
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
}

// finishes are OpenAI's reasons.
var finishes = map[chat.Reason]string{
	chat.ReasonStop: "stop", chat.ReasonStopString: "stop", chat.ReasonLength: "length",
	chat.ReasonToolCalls: "tool_calls", chat.ReasonCancelled: "stop", chat.ReasonRepetition: "length",
}

type callJSON struct {
	Index    *int         `json:"index,omitempty"` // of a stream
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function functionJSON `json:"function"`
}

type functionJSON struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// messageJSON is an answer, or in a stream a piece of it.
type messageJSON struct {
	Role             string     `json:"role,omitempty"`
	Content          *string    `json:"content"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	Reasoning        string     `json:"reasoning,omitempty"`
	ToolCalls        []callJSON `json:"tool_calls,omitempty"`
	Refusal          *string    `json:"refusal,omitempty"`
}

type choiceJSON struct {
	Index        int           `json:"index"`
	Message      *messageJSON  `json:"message,omitempty"`
	Delta        *messageJSON  `json:"delta,omitempty"`
	LogProbs     *logProbsJSON `json:"logprobs"`
	FinishReason *string       `json:"finish_reason"`
}

type logProbsJSON struct {
	Content []tokenJSON `json:"content"`
	Refusal []tokenJSON `json:"refusal"`
}

type tokenJSON struct {
	Token   string       `json:"token"`
	LogProb float32      `json:"logprob"`
	Bytes   []int        `json:"bytes"`
	Top     *[]tokenJSON `json:"top_logprobs,omitempty"`
}

func newToken(s answer.Spelled) tokenJSON {
	t := tokenJSON{Token: s.Token, LogProb: s.LogProb, Bytes: []int{}}
	for _, b := range s.Bytes {
		t.Bytes = append(t.Bytes, int(b))
	}
	return t
}

type completionJSON struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	System  string       `json:"system_fingerprint"`
	Choices []choiceJSON `json:"choices"`
	Usage   *usageJSON   `json:"usage,omitempty"`
}

// completion makes a chat completion of events.
type completion struct {
	open    *models.Open
	in      chatRequest
	out     completionJSON
	usage   usageJSON
	choices []*gathered
}

// gathered is one answer so far.
type gathered struct {
	text, thoughts strings.Builder
	calls          []callJSON
	logProbs       []tokenJSON
	reason         string
	told           bool // that the assistant speaks, in a stream
}

func newCompletion(open *models.Open, in chatRequest, r answer.Request) *completion {
	c := &completion{open: open, in: in, out: completionJSON{
		ID: newID("chatcmpl-"), Object: "chat.completion", Created: time.Now().Unix(), Model: in.Model,
		System: "fp_" + open.Entry.Digest[:min(10, len(open.Entry.Digest))], Choices: []choiceJSON{},
	}}
	for range max(1, r.N) {
		c.choices = append(c.choices, &gathered{})
	}
	return c
}

// take adds an event, and gives what a stream says of it.
func (c *completion) take(e answer.Event) []messageJSON {
	g := c.choices[e.Index]
	switch e.Kind {
	case chat.TextEvent, chat.MalformedEvent:
		g.text.WriteString(e.Text)
		return []messageJSON{{Content: &e.Text}}
	case chat.ThinkingEvent:
		g.thoughts.WriteString(e.Text)
		c.usage.CompletionDetails.Reasoning += len(e.Tokens)
		return []messageJSON{{ReasoningContent: e.Text, Reasoning: e.Text}}
	case chat.CallEvent:
		return g.call(e.Call)
	case chat.DoneEvent:
		g.reason = finishes[e.Reason]
		if len(g.calls) > 0 && g.reason == "stop" {
			g.reason = "tool_calls"
		}
		if e.Usage != nil {
			c.usage.add(e.Usage)
		}
		if !g.told { // a stream without a word has its speaker, too
			none := ""
			return []messageJSON{{Content: &none}}
		}
	}
	return nil
}

// call adds a call. A stream has its name first, and then its arguments.
func (g *gathered) call(call chat.ToolCall) []messageJSON {
	index := len(g.calls)
	whole := callJSON{ID: newID("call_"), Type: "function", Function: functionJSON{call.Name, text(call.Arguments)}}
	g.calls = append(g.calls, whole)
	head := whole
	head.Index, head.Function.Arguments = &index, ""
	return []messageJSON{
		{ToolCalls: []callJSON{head}},
		{ToolCalls: []callJSON{{Index: &index, Function: functionJSON{Arguments: whole.Function.Arguments}}}},
	}
}

// text is the arguments of a call as a text of JSON.
func text(arguments json.RawMessage) string {
	if isNull(arguments) {
		return "{}"
	}
	return string(arguments)
}

// probable is the log-probabilities that come with an event of text.
func (c *completion) probable(e answer.Event) *logProbsJSON {
	if !c.in.LogProbs || e.Kind != chat.TextEvent {
		return nil
	}
	list := []tokenJSON{}
	for _, choice := range answer.Spell(c.open.Model.Tokenizer(), e.Tokens, c.in.top()) {
		t := newToken(choice.Spelled)
		top := []tokenJSON{}
		for _, other := range choice.Top {
			top = append(top, newToken(other))
		}
		t.Top = &top
		list = append(list, t)
	}
	g := c.choices[e.Index]
	g.logProbs = append(g.logProbs, list...)
	return &logProbsJSON{Content: list}
}

// whole sends the answer when it is complete.
func (c *completion) whole(w http.ResponseWriter, events events) {
	for e, err := range events {
		if err != nil {
			Refuse(w, err)
			return
		}
		c.take(e)
		c.probable(e)
	}
	for i, g := range c.choices {
		m := &messageJSON{Role: chat.Assistant, ToolCalls: g.calls}
		if g.text.Len() > 0 || len(g.calls) == 0 {
			content := g.text.String()
			m.Content = &content
		}
		m.ReasoningContent, m.Reasoning = g.thoughts.String(), g.thoughts.String()
		choice := choiceJSON{Index: i, Message: m, FinishReason: &g.reason}
		if c.in.LogProbs {
			choice.LogProbs = &logProbsJSON{Content: append([]tokenJSON{}, g.logProbs...)}
		}
		c.out.Choices = append(c.out.Choices, choice)
	}
	c.out.Usage = &c.usage
	wire.JSON(w, http.StatusOK, c.out)
}

// stream sends the answer as it comes.
func (c *completion) stream(s *wire.Stream, events events) {
	c.out.Object = "chat.completion.chunk"
	send := func(choice choiceJSON) bool {
		c.out.Choices = []choiceJSON{choice}
		return s.Data(c.out) == nil
	}
	for e, err := range events {
		if err != nil {
			streamError(s, err)
			return
		}
		pieces := c.take(e)
		probable := c.probable(e)
		for _, m := range pieces {
			if g := c.choices[e.Index]; !g.told {
				g.told, m.Role = true, chat.Assistant
			}
			if !send(choiceJSON{Index: e.Index, Delta: &m, LogProbs: probable}) {
				return
			}
			probable = nil
		}
		if e.Kind == chat.DoneEvent {
			reason := c.choices[e.Index].reason
			if !send(choiceJSON{Index: e.Index, Delta: &messageJSON{}, FinishReason: &reason}) {
				return
			}
		}
	}
	if c.in.StreamOptions.IncludeUsage {
		c.out.Choices, c.out.Usage = []choiceJSON{}, &c.usage
		if s.Data(c.out) != nil {
			return
		}
	}
	_ = s.End() // a client that is gone needs no end
}

// streamError tells of an error: with its status, where nothing was sent yet.
func streamError(s *wire.Stream, err error) {
	if !s.Begun() {
		Refuse(s.Writer(), err)
		return
	}
	_ = s.Data(newError(err)) // a client that is gone needs no answer
}
