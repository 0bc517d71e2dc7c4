package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// messagesRequest is the body of a request.
type messagesRequest struct {
	Model         string          `json:"model"`
	MaxTokens     *int            `json:"max_tokens"`
	Messages      []message       `json:"messages"`
	System        blocks          `json:"system"`
	Stream        bool            `json:"stream"`
	Temperature   *float32        `json:"temperature"`
	TopP          *float32        `json:"top_p"`
	TopK          *int            `json:"top_k"`
	StopSequences []string        `json:"stop_sequences"`
	Tools         []tool          `json:"tools"`
	ToolChoice    *toolChoice     `json:"tool_choice"`
	Thinking      *thinking       `json:"thinking"`
	OutputConfig  json.RawMessage `json:"output_config"`
	OutputFormat  json.RawMessage `json:"output_format"`
}

type message struct {
	Role    string `json:"role"`
	Content blocks `json:"content"`
}

// blocks are a content: a text alone is one block.
type blocks []block

// UnmarshalJSON reads a text or a list of blocks.
func (b *blocks) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if *b = nil; text != "" {
			*b = blocks{{Type: "text", Text: text}}
		}
		return nil
	}
	var list []block
	err := json.Unmarshal(raw, &list)
	*b = list
	return err
}

type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	Source   struct {
		Type string `json:"type"` // base64 or url
		Data []byte `json:"data"`
		URL  string `json:"url"`
	} `json:"source"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type toolChoice struct {
	Type            string `json:"type"`
	Name            string `json:"name"`
	DisableParallel bool   `json:"disable_parallel_tool_use"`
}

type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

// request translates the body for a model. Where tokens are only counted, there need be no bound to the answer.
func (in *messagesRequest) request(e models.Entry, client string, counts bool) (r answer.Request, err error) {
	options, context, err := e.Defaults()
	if err != nil {
		return r, err
	}
	if err := in.settings(&options, counts); err != nil {
		return r, err
	}
	r = answer.Request{Options: options, Context: context, Client: client}
	if r.Conversation.Messages, err = in.conversation(); err != nil {
		return r, err
	}
	for i, t := range in.Tools {
		if t.Type != "" && t.Type != "custom" || t.Name == "" {
			return r, fmt.Errorf("%w: tools.%d: a tool of type %.40q; this server takes tools with a name and an input_schema",
				chat.ErrTool, i, t.Type)
		}
		r.Conversation.Options.Tools = append(r.Conversation.Options.Tools,
			chat.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema})
	}
	if r.Options.Calls, err = in.ToolChoice.calls(); err != nil {
		return r, err
	}
	if in.Thinking != nil {
		switch in.Thinking.Type {
		case "enabled", "adaptive", "between_tools":
			r.Conversation.Options.EnableThinking = true
			r.Options.ThinkingBudget = max(0, in.Thinking.Budget)
		case "disabled":
		default:
			return r, fmt.Errorf("%w: thinking.type: say enabled or disabled", answer.ErrRequest)
		}
	}
	r.Options.Form, err = in.form()
	return r, err
}

func (in *messagesRequest) settings(o *gemma4.GenerateOptions, counts bool) error {
	switch {
	case len(in.Messages) == 0:
		return fmt.Errorf("%w: messages: there are none", answer.ErrRequest)
	case in.MaxTokens == nil && counts:
	case in.MaxTokens == nil:
		return fmt.Errorf("%w: max_tokens: Field required", answer.ErrRequest)
	case *in.MaxTokens < 1:
		return &sampling.Error{Setting: "max_tokens", Value: fmt.Sprint(*in.MaxTokens), Wanted: "a whole number, 1 or more"}
	default:
		o.MaxTokens = *in.MaxTokens
	}
	p := &o.Sampling
	if in.Temperature != nil {
		p.Temperature = *in.Temperature
	}
	if in.TopP != nil {
		p.TopP = *in.TopP
	}
	if in.TopK != nil {
		p.TopK = *in.TopK
	}
	o.Stop = append(o.Stop, in.StopSequences...)
	return sampling.Check(sampling.Settings, p)
}

// form is the schema of the answer, where one is given.
func (in *messagesRequest) form() (*gemma4.Form, error) {
	raw := in.OutputFormat
	if len(in.OutputConfig) > 0 {
		var config struct {
			Format json.RawMessage `json:"format"`
		}
		if err := json.Unmarshal(in.OutputConfig, &config); err != nil {
			return nil, fmt.Errorf("%w: output_config: %w", answer.ErrRequest, err)
		}
		raw = config.Format
	}
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var format struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"schema"`
	}
	if err := json.Unmarshal(raw, &format); err != nil || format.Type != "json_schema" || len(format.Schema) == 0 {
		return nil, fmt.Errorf("%w: a format has the type json_schema and a schema", answer.ErrRequest)
	}
	return &gemma4.Form{Schema: string(format.Schema)}, nil
}

func (c *toolChoice) calls() (out gemma4.Calls, err error) {
	if c == nil {
		return out, nil
	}
	out.Single = c.DisableParallel
	switch c.Type {
	case "auto":
	case "any":
		out.Choice = grammar.ToolRequired
	case "none":
		out.Choice = grammar.ToolNone
	case "tool":
		out.Choice, out.Name = grammar.ToolNamed, c.Name
	default:
		return out, fmt.Errorf("%w: tool_choice.type: say auto, any, tool or none", answer.ErrRequest)
	}
	return out, nil
}

// conversation is the messages as Gemma has them: a result of a tool is a message of its own.
func (in *messagesRequest) conversation() (list []chat.Message, err error) {
	if len(in.System) > 0 {
		var text []string
		for _, b := range in.System {
			text = append(text, b.Text)
		}
		list = append(list, chat.Message{Role: chat.System, Content: chat.Text(strings.Join(text, "\n"))})
	}
	for i, m := range in.Messages {
		if m.Role != chat.User && m.Role != chat.Assistant && m.Role != chat.System {
			return nil, fmt.Errorf("%w: messages.%d.role: say user or assistant", answer.ErrRequest, i)
		}
		if m.Role == chat.User && len(m.Content) == 0 {
			return nil, fmt.Errorf("%w: messages.%d.content: give a text or a list of blocks", answer.ErrRequest, i)
		}
		more, err := m.chat()
		if err != nil {
			return nil, fmt.Errorf("messages.%d: %w", i, err)
		}
		list = append(list, more...)
	}
	return list, nil
}

func (m message) chat() (list []chat.Message, err error) {
	own := chat.Message{Role: m.Role}
	var parts []chat.Part
	for i, b := range m.Content {
		switch b.Type {
		case "thinking":
			own.Reasoning += b.Thinking
		case "redacted_thinking":
		case "tool_use":
			own.ToolCalls = append(own.ToolCalls, chat.ToolCall{ID: b.ID, Name: b.Name, Arguments: b.Input})
		case "tool_result":
			content, err := resultContent(b.Content)
			if err != nil {
				return nil, fmt.Errorf("content.%d: %w", i, err)
			}
			list = append(list, chat.Message{Role: chat.ToolRole, ToolCallID: b.ToolUseID, Content: content})
		default:
			part, err := b.part()
			if err != nil {
				return nil, fmt.Errorf("content.%d: %w", i, err)
			}
			parts = append(parts, part)
		}
	}
	switch {
	case len(parts) == 1 && parts[0].Type == chat.TextPart:
		own.Content = chat.Text(parts[0].Text)
	case len(parts) > 0:
		own.Content = chat.Parts(parts...)
	case len(list) > 0:
		return list, nil // results alone
	case len(own.ToolCalls) == 0:
		own.Content = chat.Text("")
	}
	return append(list, own), nil
}

func (b block) part() (chat.Part, error) {
	switch b.Type {
	case "text":
		return chat.Part{Type: chat.TextPart, Text: b.Text}, nil
	case "image":
		if b.Source.Type == "url" {
			return chat.Part{Type: chat.Image, URL: b.Source.URL}, nil
		}
		if len(b.Source.Data) > 0 {
			return chat.Part{Type: chat.Image, Data: b.Source.Data}, nil
		}
		return chat.Part{}, fmt.Errorf("%w: an image without data", answer.ErrRequest)
	}
	return chat.Part{}, fmt.Errorf("%w: a block of type %.40q", answer.ErrRequest, b.Type)
}

func resultContent(raw json.RawMessage) (chat.Content, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return chat.Text(""), nil
	}
	var list blocks
	if err := json.Unmarshal(raw, &list); err != nil {
		return chat.Content{}, fmt.Errorf("%w: %w", answer.ErrRequest, err)
	}
	var parts []chat.Part
	for _, b := range list {
		p, err := b.part()
		if err != nil {
			return chat.Content{}, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 1 && parts[0].Type == chat.TextPart {
		return chat.Text(parts[0].Text), nil
	}
	if len(parts) == 0 {
		return chat.Text(""), nil
	}
	return chat.Parts(parts...), nil
}
