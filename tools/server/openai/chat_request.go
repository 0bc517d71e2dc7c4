package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// settings are those that chat and text completions share.
type settings struct {
	Temperature      *float32        `json:"temperature"`
	TopP             *float32        `json:"top_p"`
	TopK             *int            `json:"top_k"`
	MinP             *float32        `json:"min_p"`
	Seed             *int64          `json:"seed"`
	Stop             json.RawMessage `json:"stop"`
	FrequencyPenalty *float32        `json:"frequency_penalty"`
	PresencePenalty  *float32        `json:"presence_penalty"`
	LogitBias        map[string]any  `json:"logit_bias"`
	MaxTokens        *int            `json:"max_tokens"`
	N                *int            `json:"n"`
}

// take changes what a request says otherwise.
func (s settings) take(o *gemma4.GenerateOptions) error {
	set := func(to *float32, from *float32) {
		if from != nil {
			*to = *from
		}
	}
	p := &o.Sampling
	set(&p.Temperature, s.Temperature)
	set(&p.TopP, s.TopP)
	set(&p.MinP, s.MinP)
	set(&p.FrequencyPenalty, s.FrequencyPenalty)
	set(&p.PresencePenalty, s.PresencePenalty)
	if s.FrequencyPenalty != nil || s.PresencePenalty != nil {
		p.RepeatLastN = -1 // OpenAI counts the whole text
	}
	if s.TopK != nil {
		p.TopK = *s.TopK
	}
	if s.Seed != nil {
		p.Seed = uint64(*s.Seed)
	}
	if s.MaxTokens != nil {
		if *s.MaxTokens < 1 {
			return &paramError{"max_tokens", &sampling.Error{
				Setting: "max_tokens", Value: fmt.Sprint(*s.MaxTokens), Wanted: "a whole number, 1 or more",
			}}
		}
		o.MaxTokens = *s.MaxTokens
	}
	if err := s.takeStop(o); err != nil {
		return err
	}
	if err := s.takeBias(p); err != nil {
		return err
	}
	return errors.Join(sampling.Check(sampling.Settings, p), sampling.Check(gemma4.AnswerSettings, o))
}

// mostStops is how many stop texts a request may have.
const mostStops = 16

func (s settings) takeStop(o *gemma4.GenerateOptions) error {
	if isNull(s.Stop) {
		return nil
	}
	var one string
	var list []*string // null is no text
	if json.Unmarshal(s.Stop, &one) == nil {
		list = []*string{&one}
	} else if err := json.Unmarshal(s.Stop, &list); err != nil || slices.Contains(list, nil) {
		return &paramError{"stop", fmt.Errorf("%w: stop is neither a text nor a list of texts", answer.ErrRequest)}
	}
	if len(list) > mostStops {
		return &paramError{"stop", fmt.Errorf("%w: %d stop texts; %d are the most", answer.ErrRequest, len(list),
			mostStops)}
	}
	o.Stop = make([]string, len(list))
	for i, text := range list {
		o.Stop[i] = *text
	}
	return nil
}

// mostBiases is how many tokens a request may bias: each costs time before the answer.
const mostBiases = 10_000

// forbids is the bias by which OpenAI's API bans a token.
const forbids = -100

func (s settings) takeBias(p *sampling.Params) error {
	if len(s.LogitBias) == 0 {
		return nil
	}
	if len(s.LogitBias) > mostBiases {
		return &paramError{"logit_bias", fmt.Errorf("%w: logit_bias has %d tokens; %d are the most", answer.ErrRequest,
			len(s.LogitBias), mostBiases)}
	}
	p.LogitBias = make(sampling.Bias, len(s.LogitBias))
	for id, value := range s.LogitBias {
		token, err := strconv.ParseInt(id, 10, 32)
		bias, ok := value.(float64)
		if err != nil || !ok || token < 0 || bias < forbids || bias > -forbids {
			return &paramError{"logit_bias", fmt.Errorf(
				"%w: logit_bias has token ids of the model as names, and numbers from -100 to 100; not %.20q: %.20v",
				answer.ErrRequest, id, value)}
		}
		if bias == forbids {
			bias = math.Inf(-1)
		}
		p.LogitBias[int32(token)] = float32(bias)
	}
	return nil
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// chatRequest is the body of a chat completion.
type chatRequest struct {
	settings
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Stream              bool            `json:"stream"`
	StreamOptions       streamOptions   `json:"stream_options"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Tools               []chatTool      `json:"tools"`
	Functions           json.RawMessage `json:"functions"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	ParallelToolCalls   *bool           `json:"parallel_tool_calls"`
	ResponseFormat      *responseFormat `json:"response_format"`
	ReasoningEffort     string          `json:"reasoning_effort"`
	Reasoning           *struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	TemplateOptions struct {
		EnableThinking *bool `json:"enable_thinking"`
	} `json:"chat_template_kwargs"`
	LogProbs    bool     `json:"logprobs"`
	TopLogProbs *int     `json:"top_logprobs"`
	Modalities  []string `json:"modalities"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// chatMessage is a message, whose calls have their arguments as a text of JSON.
type chatMessage struct{ chat.Message }

// UnmarshalJSON reads OpenAI's form.
func (m *chatMessage) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, &m.Message); err != nil {
		return err
	}
	if m.Role == "function" {
		m.Role = chat.ToolRole
	}
	for i := range m.ToolCalls {
		m.ToolCalls[i].Arguments = unquoted(m.ToolCalls[i].Arguments)
	}
	return nil
}

// unquoted is the object that stands in a text; whatever is no object stays as it is.
func unquoted(arguments json.RawMessage) json.RawMessage {
	var text string
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &text) != nil {
		return arguments
	}
	if text == "" {
		return json.RawMessage("{}")
	}
	if json.Unmarshal([]byte(text), &object) != nil {
		return arguments
	}
	return json.RawMessage(text)
}

// chatTool is a declaration; other kinds of tools run on OpenAI's own machines.
type chatTool struct{ chat.Tool }

// UnmarshalJSON reads OpenAI's form.
func (t *chatTool) UnmarshalJSON(raw []byte) error {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return err
	}
	if kind.Type != "function" && kind.Type != "" {
		return fmt.Errorf("%w: a tool of type %.40q; this server takes functions", chat.ErrTool, kind.Type)
	}
	return json.Unmarshal(raw, &t.Tool)
}

// responseFormat is the form of an answer.
type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
	Schema json.RawMessage `json:"schema"` // of the responses API, and of llama.cpp's json_object
	Name   string          `json:"name"`   // of the responses API

	// What OpenAI's API does not have, as the npm package calls it.
	Regex   string   `json:"regex"`
	Choices []string `json:"choices"`
	Grammar string   `json:"grammar"`
}

// anyObject is what OpenAI's JSON mode gives.
const anyObject = `{"type": "object"}`

func (f *responseFormat) form() (*gemma4.Form, error) {
	if f == nil {
		return nil, nil
	}
	schema := f.Schema
	if f.JSONSchema != nil {
		schema = f.JSONSchema.Schema
	}
	switch {
	case f.Type == "text" || f.Type == "":
		return nil, nil
	case f.Type == "json_object" && isNull(schema):
		return &gemma4.Form{Schema: anyObject}, nil
	case f.Type == "json_object":
		return &gemma4.Form{Schema: string(schema)}, nil
	case f.Type == "json_schema" && !isNull(schema):
		return &gemma4.Form{Schema: string(schema)}, nil
	case f.Type == "json_schema":
		return nil, &paramError{"response_format", fmt.Errorf("%w: json_schema has no schema", answer.ErrRequest)}
	}
	return f.otherForm()
}

// otherForm is a form that is no JSON.
func (f *responseFormat) otherForm() (*gemma4.Form, error) {
	form := &gemma4.Form{}
	missing := ""
	switch f.Type {
	case "regex":
		if form.Regex = f.Regex; f.Regex == "" {
			missing = "regex"
		}
	case "choice":
		if form.Choices = f.Choices; len(f.Choices) == 0 {
			missing = "choices"
		}
	case "grammar":
		if form.Grammar = f.Grammar; f.Grammar == "" {
			missing = "grammar"
		}
	default:
		return nil, &paramError{"response_format", fmt.Errorf("%w: a response_format of type %.40q; say text, "+
			"json_object, json_schema, regex, choice or grammar", answer.ErrRequest, f.Type)}
	}
	if missing != "" {
		return nil, &paramError{"response_format", fmt.Errorf("%w: %s has no %s", answer.ErrRequest, f.Type, missing)}
	}
	return form, nil
}

// request translates the body for a model.
func (in *chatRequest) request(e models.Entry, client string) (answer.Request, error) {
	options, context, err := e.Defaults()
	if err != nil {
		return answer.Request{}, err
	}
	if in.MaxCompletionTokens != nil {
		in.MaxTokens = in.MaxCompletionTokens
	}
	if err := in.take(&options); err != nil {
		return answer.Request{}, err
	}
	r := answer.Request{Options: options, Context: context, Client: client}
	if r.N, err = in.count(); err != nil {
		return r, err
	}
	for i, m := range in.Messages {
		if m.Role != chat.Assistant && m.Role != chat.ToolRole && !m.Content.Given() {
			return r, &paramError{fmt.Sprintf("messages.[%d].content", i),
				fmt.Errorf("%w: message %d has no content; give a text or a list of parts", answer.ErrRequest, i)}
		}
		r.Conversation.Messages = append(r.Conversation.Messages, m.Message)
	}
	if len(in.Messages) == 0 {
		return r, &paramError{"messages", fmt.Errorf("%w: there are no messages", answer.ErrRequest)}
	}
	for _, t := range in.Tools {
		r.Conversation.Options.Tools = append(r.Conversation.Options.Tools, t.Tool)
	}
	return r, in.finish(&r)
}

func (s settings) count() (int, error) {
	if s.N == nil {
		return 1, nil
	}
	if *s.N < 1 || *s.N > answer.MostAnswers {
		return 0, &paramError{"n", &sampling.Error{
			Setting: "n", Value: fmt.Sprint(*s.N), Wanted: fmt.Sprintf("1 to %d", answer.MostAnswers),
		}}
	}
	return *s.N, nil
}

// finish adds how tools are called, the form, thoughts and log-probabilities.
func (in *chatRequest) finish(r *answer.Request) (err error) {
	if !isNull(in.Functions) && len(in.Tools) == 0 {
		return &paramError{"functions", fmt.Errorf("%w: functions are an older form; send them as tools", answer.ErrRequest)}
	}
	if r.Options.Calls, err = calls(in.ToolChoice); err != nil {
		return err
	}
	r.Options.Calls.Single = in.ParallelToolCalls != nil && !*in.ParallelToolCalls
	if r.Options.Form, err = in.ResponseFormat.form(); err != nil {
		return err
	}
	effort := in.ReasoningEffort
	if in.Reasoning != nil {
		effort = in.Reasoning.Effort
	}
	if r.Conversation.Options.EnableThinking, err = thinks(effort); err != nil {
		return err
	}
	if t := in.TemplateOptions.EnableThinking; t != nil {
		r.Conversation.Options.EnableThinking = *t
	}
	for _, m := range in.Modalities {
		if m != "text" {
			return &paramError{"modalities", fmt.Errorf("%w: answers in %.20q; this model writes text", answer.ErrRequest, m)}
		}
	}
	return in.logProbs(r)
}

// mostTop is how many alternatives OpenAI's API shows.
const mostTop = 20

func (in *chatRequest) logProbs(r *answer.Request) error {
	if in.TopLogProbs != nil && (*in.TopLogProbs < 0 || *in.TopLogProbs > mostTop) {
		return &paramError{"top_logprobs", &sampling.Error{
			Setting: "top_logprobs", Value: fmt.Sprint(*in.TopLogProbs), Wanted: fmt.Sprintf("0 to %d", mostTop),
		}}
	}
	if in.TopLogProbs != nil && !in.LogProbs && *in.TopLogProbs > 0 {
		return &paramError{"top_logprobs", fmt.Errorf("%w: top_logprobs is for logprobs: true", answer.ErrRequest)}
	}
	if in.LogProbs {
		r.Options.Sampling.LogProbs = max(1, in.top())
	}
	return nil
}

func (in *chatRequest) top() int {
	if in.TopLogProbs == nil {
		return 0
	}
	return *in.TopLogProbs
}

// thinks says whether an effort means to think before answering. Gemma either thinks or does not.
func thinks(effort string) (bool, error) {
	switch effort {
	case "", "none", "minimal":
		return false, nil
	case "low", "medium", "high", "xhigh", "max":
		return true, nil
	}
	return false, &paramError{"reasoning_effort", fmt.Errorf(
		"%w: a reasoning effort of %.20q; say none, minimal, low, medium or high", answer.ErrRequest, effort)}
}

// calls reads a tool_choice.
func calls(raw json.RawMessage) (gemma4.Calls, error) {
	if isNull(raw) {
		return gemma4.Calls{}, nil
	}
	var word string
	var named struct {
		Type     string `json:"type"`
		Name     string `json:"name"` // of the responses API
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &word) == nil {
		switch word {
		case "auto":
			return gemma4.Calls{}, nil
		case "none":
			return gemma4.Calls{Choice: grammar.ToolNone}, nil
		case "required", "any":
			return gemma4.Calls{Choice: grammar.ToolRequired}, nil
		}
	} else if json.Unmarshal(raw, &named) == nil && named.Type == "function" {
		if name := named.Name + named.Function.Name; name != "" {
			return gemma4.Calls{Choice: grammar.ToolNamed, Name: name}, nil
		}
	}
	return gemma4.Calls{}, &paramError{"tool_choice", fmt.Errorf(
		`%w: say none, auto, required, or {"type": "function", "function": {"name": NAME}}`, answer.ErrRequest)}
}
