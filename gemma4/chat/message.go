package chat

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The roles that a message can have.
const (
	System    = "system"
	Developer = "developer"
	User      = "user"
	Assistant = "assistant"
	ToolRole  = "tool"
)

// Message is one message of a conversation. Its JSON is that of OpenAI's chat
// completions.
type Message struct {
	Role    string
	Content Content

	// Reasoning is what an assistant thought before it called or answered.
	Reasoning string
	// ToolCalls are what an assistant asks for.
	ToolCalls []ToolCall
	// ToolResults may stand in the calling message itself, instead of in
	// messages of the role tool after it.
	ToolResults []ToolResult

	ToolCallID string // of a tool's message: the call that it answers
	Name       string // of a tool's message: the function, if no call has the id
}

// roles are those that a message may have. Templates know the model by two names.
var roles = []string{System, Developer, User, Assistant, "model", ToolRole}

// CheckRoles refuses messages of roles that Gemma was not taught, with an error that
// wraps ErrMessage. A template renders them, and the model makes of them what it can.
func CheckRoles(messages []Message) error {
	for i, m := range messages {
		if !slices.Contains(roles, m.Role) {
			return fmt.Errorf("%w: message %d has the role %.40q; roles are system, developer, user, assistant and tool",
				ErrMessage, i, m.Role)
		}
	}
	return nil
}

// ToolCall is a call of a function.
type ToolCall struct {
	ID   string
	Name string
	// Arguments is a JSON object. A JSON string instead stands for arguments
	// that are rendered as they are.
	Arguments json.RawMessage
}

// ToolResult is what a function returned: any JSON value.
type ToolResult struct {
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

// Conversation is what a prompt is made of.
type Conversation struct {
	Messages []Message `json:"messages"`
	Options  Options   `json:"options"`
}

// Options say what a prompt holds beside the messages.
type Options struct {
	Tools              []Tool
	EnableThinking     bool
	PreserveThinking   bool // keep what the model thought before the calls of earlier turns
	NoGenerationPrompt bool // leave out the beginning of the model's answer
}

type optionsJSON struct {
	Tools               []Tool `json:"tools,omitempty"`
	EnableThinking      bool   `json:"enable_thinking,omitempty"`
	PreserveThinking    bool   `json:"preserve_thinking,omitempty"`
	AddGenerationPrompt *bool  `json:"add_generation_prompt,omitempty"`
}

// UnmarshalJSON reads the options under the templates' names; without
// add_generation_prompt there is a generation prompt.
func (o *Options) UnmarshalJSON(data []byte) error {
	var in optionsJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	add := in.AddGenerationPrompt == nil || *in.AddGenerationPrompt
	*o = Options{
		Tools: in.Tools, EnableThinking: in.EnableThinking, PreserveThinking: in.PreserveThinking, NoGenerationPrompt: !add,
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (o Options) MarshalJSON() ([]byte, error) {
	out := optionsJSON{Tools: o.Tools, EnableThinking: o.EnableThinking, PreserveThinking: o.PreserveThinking}
	if o.NoGenerationPrompt {
		out.AddGenerationPrompt = new(bool)
	}
	return json.Marshal(out)
}

type messageJSON struct {
	Role             string       `json:"role"`
	Content          Content      `json:"content"`
	Reasoning        *string      `json:"reasoning,omitempty"`
	ReasoningContent *string      `json:"reasoning_content,omitempty"`
	ToolCalls        []ToolCall   `json:"tool_calls,omitempty"`
	ToolResults      []ToolResult `json:"tool_responses,omitempty"`
	ToolCallID       string       `json:"tool_call_id,omitempty"`
	Name             string       `json:"name,omitempty"`
}

// UnmarshalJSON reads OpenAI's form. Thoughts may stand under reasoning or
// reasoning_content.
func (m *Message) UnmarshalJSON(data []byte) error {
	var in messageJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.Role == "" {
		return fmt.Errorf("%w: it has no role", ErrMessage)
	}
	*m = Message{
		Role: in.Role, Content: in.Content, ToolCalls: in.ToolCalls, ToolResults: in.ToolResults,
		ToolCallID: in.ToolCallID, Name: in.Name,
	}
	for _, reasoning := range []*string{in.ReasoningContent, in.Reasoning} {
		if reasoning != nil && *reasoning != "" {
			m.Reasoning = *reasoning
		}
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (m Message) MarshalJSON() ([]byte, error) {
	out := messageJSON{
		Role: m.Role, Content: m.Content, ToolCalls: m.ToolCalls, ToolResults: m.ToolResults,
		ToolCallID: m.ToolCallID, Name: m.Name,
	}
	if m.Reasoning != "" {
		out.Reasoning = &m.Reasoning
	}
	return json.Marshal(out)
}

type functionJSON struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

type toolCallJSON struct {
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function functionJSON `json:"function"`
}

// UnmarshalJSON reads {"id", "type", "function": {"name", "arguments"}}.
func (c *ToolCall) UnmarshalJSON(data []byte) error {
	var in toolCallJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.Function.Name == "" {
		return fmt.Errorf("%w: a tool call has no function name", ErrMessage)
	}
	*c = ToolCall{ID: in.ID, Name: in.Function.Name, Arguments: in.Function.Arguments}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	return json.Marshal(toolCallJSON{c.ID, "function", functionJSON{c.Name, c.Arguments}})
}
