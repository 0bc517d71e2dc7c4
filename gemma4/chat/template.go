package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4/arch"
)

// Template is one of the released chat templates. Gemma 4's differ only in how
// the model's answer begins.
type Template int

// The templates.
const (
	// E2B is that of the E series.
	E2B Template = iota
	// Large is that of the other models. Without thinking, it begins the
	// answer with an empty thought.
	Large
	// Gemma3 is that of all Gemma 3 models: text alone, without tools and thinking.
	Gemma3
)

var templateNames = map[string]Template{
	"e2b": E2B, "e4b": E2B, "nano": E2B,
	"12b": Large, "26b": Large, "31b": Large,
	"gemma3": Gemma3,
}

// ByName is the template of a Gemma 4 model by its size, "e2b", "31b", and "gemma3"
// for Gemma 3.
func ByName(name string) (Template, error) {
	t, ok := templateNames[strings.ToLower(name)]
	if !ok {
		return 0, fmt.Errorf("%w: %.40q (want e2b, 31b or gemma3)", ErrTemplate, name)
	}
	return t, nil
}

// For is the template of a model by its architecture: of Gemma 4, the E series has
// per-layer embeddings, the other models have none.
func For(c *arch.Config) Template {
	switch {
	case c.Family == arch.Gemma3:
		return Gemma3
	case c.PerLayerDim > 0:
		return E2B
	}
	return Large
}

// String is the name by which the template is found: "e2b", "31b" or "gemma3".
func (t Template) String() string {
	switch t {
	case Large:
		return "31b"
	case Gemma3:
		return "gemma3"
	}
	return "e2b"
}

// HasTools says whether the format knows tools, and thoughts.
func (t Template) HasTools() bool { return t != Gemma3 }

// Render makes a prompt of messages.
func (t Template) Render(messages []Message, opts Options) (Prompt, error) {
	if t == Gemma3 {
		return renderGemma3(messages, opts)
	}
	r := renderer{messages: messages, keepThoughts: opts.PreserveThinking}
	r.prompt.template(bos)
	if err := r.opening(opts); err != nil {
		return nil, err
	}
	r.lastUser = r.findLastUser()
	for i := range r.messages {
		if r.messages[i].Role == ToolRole {
			continue // rendered with the message that called
		}
		if err := r.turn(i); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+len(messages)-len(r.messages), err)
		}
	}
	if !opts.NoGenerationPrompt {
		r.answer(t, opts.EnableThinking)
	}
	return r.prompt, nil
}

// answer renders the beginning of the model's answer.
func (r *renderer) answer(t Template, thinking bool) {
	switch {
	case r.waits:
	case r.answered && thinking:
		r.prompt.template(channelOpen, thought, "\n")
	case r.answered:
	default:
		r.prompt.template(turnOpen, "model\n")
		if t == Large && !thinking {
			r.prompt.template(channelOpen, thought, "\n", channelClose)
		}
	}
}

// renderer holds a prompt under way.
type renderer struct {
	messages []Message // without the one that opened
	lastUser int       // index of the last user message, or -1
	prompt   Prompt

	keepThoughts bool // those before calls of earlier turns too

	// waits and answered say how the last message left its turn open: with calls
	// whose results are to come, or with those.
	waits, answered bool
}

// opening renders the system turn that precedes the conversation, if there is
// anything to say in it.
func (r *renderer) opening(opts Options) error {
	system := len(r.messages) > 0 && (r.messages[0].Role == System || r.messages[0].Role == Developer)
	if !system && len(opts.Tools) == 0 && !opts.EnableThinking {
		return nil
	}
	r.prompt.template(turnOpen, "system\n")
	if opts.EnableThinking {
		r.prompt.template(think, "\n")
	}
	if system {
		r.instructions(r.messages[0].Content)
		r.messages = r.messages[1:]
	}
	for i, tool := range opts.Tools {
		r.prompt.template(toolOpen)
		if err := r.declare(tool); err != nil {
			return fmt.Errorf("%w %d (%.40q): %w", ErrTool, i, tool.Name, err)
		}
		r.prompt.template(toolClose)
	}
	r.prompt.template(turnClose, "\n")
	return nil
}

// instructions are the text of the opening system turn. Parts of it are
// followed by a space each, whatever they are.
func (r *renderer) instructions(c Content) {
	if c.text != nil {
		r.prompt.outside(trim(*c.text))
		return
	}
	for _, p := range c.parts {
		r.prompt.outside(trim(p.Text))
		r.prompt.template(" ")
	}
}

func (r *renderer) findLastUser() int {
	for i, m := range slices.Backward(r.messages) {
		if m.Role == User {
			return i
		}
	}
	return -1
}
