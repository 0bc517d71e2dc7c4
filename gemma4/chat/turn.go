package chat

import (
	"fmt"
	"strings"
)

// turn renders message i: its part of a turn, with the results of its calls.
func (r *renderer) turn(i int) error {
	m := &r.messages[i]
	if !r.goesOn(i) {
		r.prompt.template(turnOpen)
		r.role(m.Role)
		r.prompt.template("\n")
	}
	if m.Reasoning != "" && (i > r.lastUser || r.keepThoughts && len(m.ToolCalls) > 0) {
		r.prompt.template(channelOpen, thought, "\n")
		r.prompt.outside(m.Reasoning)
		r.prompt.template("\n", channelClose)
	}
	for _, call := range m.ToolCalls {
		if err := r.call(call); err != nil {
			return err
		}
	}
	answered, err := r.results(i)
	if err != nil {
		return err
	}
	content := m.render()
	r.prompt.join(content)
	r.answered, r.waits = answered, len(m.ToolCalls) > 0 && !answered
	next := r.following(i)
	switch {
	case r.waits:
		r.prompt.template(responseOpen)
	case isModel(m.Role) && next == Assistant:
	case answered && next == "" && trim(content.String()) == "":
	default:
		r.prompt.template(turnClose, "\n")
	}
	return nil
}

// following is the role of the message after message i, those of tools not
// counted, or "" for none.
func (r *renderer) following(i int) string {
	for _, m := range r.messages[i+1:] {
		if m.Role != ToolRole {
			return m.Role
		}
	}
	return ""
}

// goesOn says whether message i continues the assistant's turn before it.
func (r *renderer) goesOn(i int) bool {
	if !isModel(r.messages[i].Role) {
		return false
	}
	for i--; i >= 0 && r.messages[i].Role == ToolRole; i-- {
	}
	return i >= 0 && r.messages[i].Role == Assistant
}

// isModel says whether the model speaks, under either name.
func isModel(role string) bool { return role == Assistant || role == "model" }

func (r *renderer) role(role string) {
	switch role {
	case Assistant:
		r.prompt.template("model")
	case System, Developer, User:
		r.prompt.template(role)
	default:
		r.prompt.outside(role)
	}
}

// results renders what the calls of message i returned: results in the message
// itself, or else the tool messages that directly follow it.
func (r *renderer) results(i int) (answered bool, err error) {
	m := &r.messages[i]
	for _, result := range m.ToolResults {
		name := result.Name
		if name == "" {
			name = unknownFunction
		}
		v, err := parseValue(result.Response)
		if err != nil {
			return false, fmt.Errorf("%w: the result of %.40q: %w", ErrMessage, name, err)
		}
		r.result(name, v)
	}
	if len(m.ToolResults) > 0 || len(m.ToolCalls) == 0 {
		return len(m.ToolResults) > 0, nil
	}
	for _, reply := range r.messages[i+1:] {
		if reply.Role != ToolRole {
			break
		}
		if err := r.reply(reply, m.functionOf(reply)); err != nil {
			return false, err
		}
		answered = true
	}
	return answered, nil
}

// unknownFunction stands for the name of a function that nothing tells.
const unknownFunction = "unknown"

// functionOf is the name of the function whose result a tool message is: that
// of the last call with its id (or without one, like the message), else the
// name in the message.
func (m *Message) functionOf(reply Message) string {
	name := reply.Name
	if name == "" {
		name = unknownFunction
	}
	for _, call := range m.ToolCalls {
		if call.ID == reply.ToolCallID {
			name = call.Name
		}
	}
	return name
}

// reply renders a tool message. Media come after the text of the result.
func (r *renderer) reply(m Message, function string) error {
	var v any
	switch {
	case m.Content.value != nil:
		var err error
		if v, err = parseValue(m.Content.value); err != nil {
			return fmt.Errorf("%w: the result of %.40q: %w", ErrMessage, function, err)
		}
	case m.Content.text != nil || m.Content.parts != nil:
		v = m.Content.String()
	}
	r.result(function, v)
	for i, p := range m.Content.parts {
		if p.Type != TextPart {
			r.prompt.media(&m.Content.parts[i])
		}
	}
	return nil
}

func (r *renderer) result(function string, v any) {
	r.prompt.template(responseOpen, "response:")
	r.prompt.outside(function)
	fields, ok := v.(object)
	if !ok {
		fields = object{{"value", v}}
	}
	r.prompt.arguments(fields)
	r.prompt.template(responseClose)
}

// render is what a message says.
func (m *Message) render() (p Prompt) {
	parts := m.Content.Parts()
	for i := range parts {
		switch {
		case parts[i].Type != TextPart:
			p.media(&parts[i])
		case isModel(m.Role):
			p.outside(withoutThoughts(parts[i].Text))
		default:
			p.outside(trim(parts[i].Text))
		}
	}
	return p
}

// withoutThoughts cuts thoughts out of an assistant's text: from a channel's
// opening to the next closing, or to the end. A closing by itself goes too.
func withoutThoughts(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(text, channelClose) {
		said, _, _ := strings.Cut(part, channelOpen)
		b.WriteString(said)
	}
	return trim(b.String())
}
