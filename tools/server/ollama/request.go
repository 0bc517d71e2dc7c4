package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// common are the fields that chats and texts share.
type common struct {
	Model       string          `json:"model"`
	Stream      *bool           `json:"stream"`
	Format      json.RawMessage `json:"format"`
	KeepAlive   *keepAlive      `json:"keep_alive"`
	Options     map[string]any  `json:"options"`
	Think       *think          `json:"think"`
	Truncate    *bool           `json:"truncate"`
	Shift       *bool           `json:"shift"`
	LogProbs    bool            `json:"logprobs"`
	TopLogProbs int             `json:"top_logprobs"`
}

func (c *common) streams() bool { return c.Stream == nil || *c.Stream }

// kept is how long the model stays; nil where the request does not say.
func (c *common) kept() *time.Duration { return (*time.Duration)(c.KeepAlive) }

// keepAlive is a number of seconds, or a text such as "5m"; what is negative is for ever.
type keepAlive time.Duration

// UnmarshalJSON reads it.
func (k *keepAlive) UnmarshalJSON(raw []byte) error {
	var seconds float64
	var text string
	switch {
	case json.Unmarshal(raw, &seconds) == nil:
	case json.Unmarshal(raw, &text) == nil:
		if d, err := time.ParseDuration(text); err == nil {
			*k = keepAlive(d)
			return nil
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%w: keep_alive is %.20q; say a number of seconds or a time such as 5m", answer.ErrRequest, text)
		}
		seconds = n
	default:
		return fmt.Errorf("%w: keep_alive is neither a number nor a text", answer.ErrRequest)
	}
	const longest = 1e9 // seconds: beyond, a Duration would not hold it
	*k = keepAlive(min(max(seconds, -longest), longest) * float64(time.Second))
	return nil
}

// think is true or false, or how much. Gemma either thinks or does not.
type think bool

// UnmarshalJSON reads it.
func (t *think) UnmarshalJSON(raw []byte) error {
	var on bool
	var level string
	switch {
	case json.Unmarshal(raw, &on) == nil:
	case json.Unmarshal(raw, &level) == nil && (level == "low" || level == "medium" || level == "high" || level == "max"):
		on = true
	case level == "none" || level == "":
	default:
		return fmt.Errorf("%w: think is %.20q; say true, false, low, medium or high", answer.ErrRequest, level)
	}
	*t = think(on)
	return nil
}

// form is what the answer must look like.
func (c *common) form() (*gemma4.Form, error) {
	raw := bytes.TrimSpace(c.Format)
	var word string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '{':
		return &gemma4.Form{Schema: string(raw)}, nil
	case json.Unmarshal(raw, &word) == nil && word == "json":
		return &gemma4.Form{Schema: `{"type": "object"}`}, nil
	case word == "" && string(raw) == `""`:
		return nil, nil
	}
	return nil, fmt.Errorf(`%w: format is %.40s; say "json" or a JSON schema`, answer.ErrRequest, raw)
}

// mostTop is how many alternatives are shown.
const mostTop = 20

// request translates what chats and texts share.
func (c *common) request(e models.Entry, client string) (r answer.Request, err error) {
	options, context, err := e.Defaults()
	if err != nil {
		return r, err
	}
	p := models.Parameters{Options: &options, Context: context}
	if _, err := p.Take(c.Options); err != nil { // names that mean nothing here are passed over, as Ollama does
		return r, err
	}
	if options.Form, err = c.form(); err != nil {
		return r, err
	}
	options.Forget = c.Truncate == nil || *c.Truncate
	if c.LogProbs {
		if c.TopLogProbs < 0 || c.TopLogProbs > mostTop {
			return r, &sampling.Error{
				Setting: "top_logprobs", Value: fmt.Sprint(c.TopLogProbs), Wanted: fmt.Sprintf("0 to %d", mostTop),
			}
		}
		options.Sampling.LogProbs = max(1, c.TopLogProbs)
	}
	r = answer.Request{Options: options, Context: p.Context, Client: client}
	r.Conversation.Options.EnableThinking = c.Think != nil && bool(*c.Think)
	return r, nil
}

// message is a message as Ollama has it.
type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking"`
	Images     [][]byte   `json:"images"` // also clips: which it is, the bytes say
	ToolCalls  []callJSON `json:"tool_calls"`
	ToolName   string     `json:"tool_name"`
	ToolCallID string     `json:"tool_call_id"`
}

type callJSON struct {
	ID       string       `json:"id,omitempty"`
	Function functionJSON `json:"function"`
}

type functionJSON struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (m message) chat() chat.Message {
	out := chat.Message{
		Role: m.Role, Reasoning: m.Thinking, Name: m.ToolName, ToolCallID: m.ToolCallID, Content: content(m.Content,
			m.Images),
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, chat.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	if m.Content == "" && len(m.Images) == 0 && len(out.ToolCalls) > 0 {
		out.Content = chat.Content{}
	}
	return out
}

// content is a text about media.
func content(text string, media [][]byte) chat.Content {
	if len(media) == 0 {
		return chat.Text(text)
	}
	var parts []chat.Part
	for _, data := range media {
		parts = append(parts, chat.Part{Type: kindOf(data), Data: data})
	}
	return chat.Parts(append(parts, chat.Part{Type: chat.TextPart, Text: text})...)
}

// sounds are the beginnings of recordings.
var sounds = []string{"fLaC", "OggS", "ID3", "\xff\xfb", "\xff\xf3", "\xff\xf2"}

// kindOf tells a recording from a picture.
func kindOf(data []byte) chat.PartType {
	if len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WAVE" {
		return chat.Audio
	}
	for _, s := range sounds {
		if strings.HasPrefix(string(data[:min(len(data), 8)]), s) {
			return chat.Audio
		}
	}
	return chat.Image
}
