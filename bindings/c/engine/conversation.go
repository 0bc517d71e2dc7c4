package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// AnswerOptions say how an answer is made.
type AnswerOptions struct {
	gemma4.GenerateOptions // a Seed of 0 is another one each time; Prefill is the engine's own
	Thinking               bool
	PreserveThinking       bool
	Tools                  []chat.Tool
	// Event, where set, hears of the answer while it comes; false ends it.
	Event func(Event) bool
}

// DefaultAnswer is as Gemma recommends.
func DefaultAnswer() AnswerOptions {
	return AnswerOptions{GenerateOptions: gemma4.GenerateOptions{Sampling: sample.Default()}}
}

func (o AnswerOptions) generate(prefill func(done, total int)) gemma4.GenerateOptions {
	g := o.GenerateOptions
	g.Prefill = prefill
	if g.Sampling.Seed == 0 {
		g.Sampling.Seed = rand.Uint64()
	}
	return g
}

func (o AnswerOptions) conversation(messages []chat.Message) chat.Conversation {
	return chat.Conversation{Messages: messages, Options: chat.Options{
		Tools: o.Tools, EnableThinking: o.Thinking, PreserveThinking: o.PreserveThinking,
	}}
}

// ParseTools reads a JSON array of OpenAI's tools; nothing is none.
func ParseTools(text string) ([]chat.Tool, error) {
	return parseList[chat.Tool](text, "tools")
}

// ParseForm reads what an answer must look like from a JSON object; nothing is no form.
func ParseForm(text string) (*gemma4.Form, error) {
	if text == "" {
		return nil, nil
	}
	form := &gemma4.Form{}
	if err := json.Unmarshal([]byte(text), form); err != nil {
		return nil, fmt.Errorf("%w: form_json: %w", ErrArgument, err)
	}
	return form, nil
}

// ParseMessages reads a JSON array of OpenAI's messages.
func ParseMessages(text string) ([]chat.Message, error) {
	messages, err := parseList[chat.Message](text, "messages")
	if err == nil && len(messages) == 0 {
		return nil, fmt.Errorf("%w: a conversation without messages", ErrArgument)
	}
	return messages, err
}

func parseList[T any](text, what string) (list []T, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("%w: %s want to be a JSON array: %w", ErrArgument, what, err)
	}
	return list, nil
}
