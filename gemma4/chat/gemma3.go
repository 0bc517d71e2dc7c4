package chat

import "fmt"

// The control tokens of Gemma 3's format.
const (
	startOfTurn = "<start_of_turn>"
	endOfTurn   = "<end_of_turn>"
)

// renderGemma3 is Render for Gemma 3, whose format has two roles. System text stands in
// front of the next question, with an empty line between.
func renderGemma3(messages []Message, opts Options) (Prompt, error) {
	switch {
	case len(opts.Tools) > 0:
		return nil, fmt.Errorf("%w: tools; leave them away, or choose a Gemma 4 model", ErrFormat)
	case opts.EnableThinking:
		return nil, fmt.Errorf("%w: thinking; turn it off, or choose a Gemma 4 model", ErrFormat)
	}
	var p Prompt
	p.template(bos)
	var instructions Prompt
	for i := range messages {
		m := &messages[i]
		if err := m.checkGemma3(); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		if isSystem(m.Role) {
			instructions.outside(m.Content.String())
			instructions.template("\n\n")
			continue
		}
		if m.Role == User {
			p.turnGemma3(User, instructions, m)
			instructions = nil
			continue
		}
		p.turnGemma3("model", nil, m)
	}
	if instructions != nil {
		p.turnGemma3(User, instructions, &Message{Role: User})
	}
	if !opts.NoGenerationPrompt {
		p.template(startOfTurn, "model\n")
	}
	return p, nil
}

// turnGemma3 is a whole turn.
func (p *Prompt) turnGemma3(role string, before Prompt, m *Message) {
	p.template(startOfTurn, role, "\n")
	p.join(before)
	for _, part := range m.Content.Parts() {
		p.outside(trim(part.Text))
	}
	p.template(endOfTurn, "\n")
}

// checkGemma3 refuses what a message cannot hold.
func (m *Message) checkGemma3() error {
	what := ""
	switch {
	case m.Role == ToolRole || len(m.ToolCalls) > 0 || len(m.ToolResults) > 0:
		what = "calls of tools"
	case !isSystem(m.Role) && m.Role != User && !isModel(m.Role):
		what = fmt.Sprintf("the role %.40q", m.Role)
	}
	for _, part := range m.Content.Parts() {
		switch part.Type {
		case Image, Video:
			what = "pictures, which are not supported for Gemma 3"
		case Audio:
			what = "sound"
		}
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrFormat, what)
}
