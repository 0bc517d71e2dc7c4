package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// ErrLine says that a line is not an example.
var ErrLine = errors.New("unusable training line")

// Record is what one line holds: a conversation that ends with an answer, or a
// text.
type Record struct {
	Line         int // from 1
	Conversation chat.Conversation
	Text         string
}

// IsText says whether the record is a text rather than a conversation.
func (r *Record) IsText() bool { return r.Conversation.Messages == nil }

// line is all that a line can have. Other keys are passed over: data sets carry
// ids, sources and scores along.
type line struct {
	Prompt        *string        `json:"prompt"`
	Completion    *string        `json:"completion"`
	Messages      []chat.Message `json:"messages"`
	Tools         []chat.Tool    `json:"tools"`
	Conversations []shareGPT     `json:"conversations"`
	System        string         `json:"system"`
	Text          *string        `json:"text"`
	Thinking      bool           `json:"enable_thinking"`
}

// shareGPT is a message in ShareGPT's form.
type shareGPT struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

// roles maps ShareGPT's names.
var roles = map[string]string{
	"system": chat.System, "human": chat.User, "user": chat.User,
	"gpt": chat.Assistant, "assistant": chat.Assistant, "model": chat.Assistant,
}

// Parse reads one line. Its errors wrap ErrLine.
func Parse(data []byte) (Record, error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&l); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrLine, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Record{}, fmt.Errorf("%w: something follows the object; put each example on a line of its own", ErrLine)
	}
	messages, err := l.messages()
	switch {
	case err != nil:
		return Record{}, err
	case messages == nil && l.Text != nil:
		if *l.Text == "" {
			return Record{}, fmt.Errorf("%w: the text is empty", ErrLine)
		}
		return Record{Text: *l.Text}, nil
	case messages == nil:
		return Record{}, fmt.Errorf("%w: it has none of prompt and completion, messages, conversations, text", ErrLine)
	case messages[len(messages)-1].Role != chat.Assistant:
		return Record{}, fmt.Errorf("%w: the last message is the %s's; it has to be the answer to learn", ErrLine,
			messages[len(messages)-1].Role)
	}
	return Record{Conversation: chat.Conversation{Messages: messages,
		Options: chat.Options{Tools: l.Tools, EnableThinking: l.Thinking}}}, nil
}

// messages is the line's conversation, nil where it has none.
func (l *line) messages() ([]chat.Message, error) {
	switch {
	case l.Prompt != nil && l.Completion != nil:
		if *l.Completion == "" {
			return nil, fmt.Errorf("%w: the completion is empty", ErrLine)
		}
		return l.withSystem(chat.Message{Role: chat.User, Content: chat.Text(*l.Prompt)},
			chat.Message{Role: chat.Assistant, Content: chat.Text(*l.Completion)}), nil
	case l.Prompt != nil || l.Completion != nil:
		return nil, fmt.Errorf("%w: prompt and completion belong together, and one is missing", ErrLine)
	case len(l.Messages) > 0:
		return l.withSystem(l.Messages...), nil
	}
	var messages []chat.Message
	for i, m := range l.Conversations {
		role, ok := roles[m.From]
		if !ok {
			return nil, fmt.Errorf("%w: message %d is from %q; ShareGPT's are from system, human and gpt", ErrLine, i+1,
				m.From)
		}
		messages = append(messages, chat.Message{Role: role, Content: chat.Text(m.Value)})
	}
	if messages == nil {
		return nil, nil
	}
	return l.withSystem(messages...), nil
}

func (l *line) withSystem(messages ...chat.Message) []chat.Message {
	if l.System == "" {
		return messages
	}
	return append([]chat.Message{{Role: chat.System, Content: chat.Text(l.System)}}, messages...)
}
