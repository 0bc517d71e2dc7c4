package openai

import (
	"encoding/json"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
)

// responseRequest is the body of a response.
type responseRequest struct {
	Model             string            `json:"model"`
	Input             json.RawMessage   `json:"input"`
	Instructions      string            `json:"instructions"`
	Tools             []json.RawMessage `json:"tools"`
	ToolChoice        json.RawMessage   `json:"tool_choice"`
	ParallelToolCalls *bool             `json:"parallel_tool_calls"`
	Temperature       *float32          `json:"temperature"`
	TopP              *float32          `json:"top_p"`
	MaxOutputTokens   *int              `json:"max_output_tokens"`
	Stream            bool              `json:"stream"`
	Previous          string            `json:"previous_response_id"`
	Conversation      json.RawMessage   `json:"conversation"`
	Background        bool              `json:"background"`
	Reasoning         struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Text struct {
		Format *responseFormat `json:"format"`
	} `json:"text"`
	Metadata json.RawMessage `json:"metadata"`
}

// item is a part of the input.
type item struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// messages are the input as a conversation.
func (in *responseRequest) messages() (list []chat.Message, err error) {
	if in.Instructions != "" {
		list = append(list, chat.Message{Role: chat.System, Content: chat.Text(in.Instructions)})
	}
	var text string
	if json.Unmarshal(in.Input, &text) == nil && !isNull(in.Input) {
		return append(list, chat.Message{Role: chat.User, Content: chat.Text(text)}), nil
	}
	var items []item
	if err := json.Unmarshal(in.Input, &items); err != nil || len(items) == 0 {
		return nil, &paramError{"input", fmt.Errorf("%w: input is neither a text nor a list of items", answer.ErrRequest)}
	}
	thought := ""
	for _, it := range items {
		switch it.Type {
		case "", "message":
			content, err := itemContent(it.Content)
			if err != nil {
				return nil, err
			}
			list = append(list, chat.Message{Role: it.Role, Content: content, Reasoning: thought})
			thought = ""
		case "reasoning":
			for _, s := range it.Summary {
				thought += s.Text
			}
		case "function_call":
			list = withCall(list, it, thought)
			thought = ""
		case "function_call_output":
			content, err := outputContent(it.Output)
			if err != nil {
				return nil, err
			}
			list = append(list, chat.Message{Role: chat.ToolRole, ToolCallID: it.CallID, Content: content})
		default:
			return nil, &paramError{"input", fmt.Errorf("%w: an item of type %.40q", answer.ErrRequest, it.Type)}
		}
	}
	return list, nil
}

// withCall adds a call to the assistant's message, or begins one.
func withCall(list []chat.Message, it item, thought string) []chat.Message {
	quoted, _ := json.Marshal(it.Arguments) // a text has a JSON form
	call := chat.ToolCall{ID: it.CallID, Name: it.Name, Arguments: unquoted(quoted)}
	if last := len(list) - 1; last >= 0 && list[last].Role == chat.Assistant && thought == "" {
		list[last].ToolCalls = append(list[last].ToolCalls, call)
		return list
	}
	return append(list, chat.Message{Role: chat.Assistant, Reasoning: thought, ToolCalls: []chat.ToolCall{call}})
}

func outputContent(raw json.RawMessage) (chat.Content, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return chat.Text(text), nil
	}
	return itemContent(raw)
}

// itemContent reads a text or parts.
func itemContent(raw json.RawMessage) (chat.Content, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return chat.Text(text), nil
	}
	var parts []struct {
		Type       string          `json:"type"`
		Text       string          `json:"text"`
		Refusal    string          `json:"refusal"`
		ImageURL   string          `json:"image_url"`
		Detail     string          `json:"detail"`
		InputAudio json.RawMessage `json:"input_audio"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return chat.Content{}, &paramError{"input", fmt.Errorf("%w: %w", answer.ErrRequest, err)}
	}
	var out []chat.Part
	for _, p := range parts {
		part := chat.Part{Type: chat.TextPart, Text: p.Text + p.Refusal}
		var err error
		switch p.Type {
		case "input_text", "output_text", "text", "refusal":
		case "input_image":
			err = reread(map[string]any{"type": "image_url", "image_url": map[string]any{
				"url": p.ImageURL, "detail": p.Detail,
			}}, &part)
		case "input_audio":
			err = reread(map[string]any{"type": "input_audio", "input_audio": p.InputAudio}, &part)
		default:
			err = fmt.Errorf("%w: a part of type %.40q", chat.ErrMessage, p.Type)
		}
		if err != nil {
			return chat.Content{}, &paramError{"input", err}
		}
		out = append(out, part)
	}
	return chat.Parts(out...), nil
}

// reread reads a part in the form of chat completions.
func reread(v any, into *chat.Part) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func (in *responseRequest) tools() (list []chat.Tool, err error) {
	for _, raw := range in.Tools {
		var t struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, fmt.Errorf("%w: %w", answer.ErrRequest, err)
		}
		if t.Type != "function" || t.Name == "" {
			return nil, &paramError{"tools", fmt.Errorf("%w: a tool of type %.40q; this server takes functions with a name",
				chat.ErrTool, t.Type)}
		}
		if isNull(t.Parameters) {
			t.Parameters = nil
		}
		list = append(list, chat.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return list, nil
}

// request translates the body for a model.
func (in *responseRequest) request(e models.Entry, client string) (r answer.Request, err error) {
	if in.Previous != "" || !isNull(in.Conversation) || in.Background {
		return r, &paramError{"previous_response_id", fmt.Errorf(
			"%w: this server keeps no responses; send the whole conversation as input", answer.ErrRequest)}
	}
	options, context, err := e.Defaults()
	if err != nil {
		return r, err
	}
	s := settings{Temperature: in.Temperature, TopP: in.TopP, MaxTokens: in.MaxOutputTokens}
	if err := s.take(&options); err != nil {
		return r, err
	}
	r = answer.Request{Options: options, Context: context, Client: client}
	if r.Conversation.Messages, err = in.messages(); err != nil {
		return r, err
	}
	if r.Conversation.Options.Tools, err = in.tools(); err != nil {
		return r, err
	}
	if r.Options.Calls, err = calls(in.ToolChoice); err != nil {
		return r, err
	}
	r.Options.Calls.Single = in.ParallelToolCalls != nil && !*in.ParallelToolCalls
	if r.Options.Form, err = in.Text.Format.form(); err != nil {
		return r, err
	}
	r.Conversation.Options.EnableThinking, err = thinks(in.Reasoning.Effort)
	return r, err
}
