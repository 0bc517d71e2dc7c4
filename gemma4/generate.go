package gemma4

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// GenerateOptions say how an answer is made. The zero value is greedy, as long
// as the context allows.
type GenerateOptions struct {
	// Sampling chooses each token; see sample.Default for what Gemma recommends.
	Sampling sample.Params
	// MaxTokens bounds the answer. 0 means what the context leaves.
	MaxTokens int
	// Stop ends the answer where one of these strings appears in its text.
	Stop []string
	// Prefill, where set, hears how much of the prompt is computed.
	Prefill func(done, total int)
}

// Event is a part of an answer: text, thinking or a tool call as chat.Event
// says, and what it is made of.
type Event struct {
	chat.Event
	// Tokens are the choices since the event before, those of control tokens
	// included; with log-probabilities where Sampling.LogProbs asks for them.
	Tokens []sample.Choice
	// Usage comes with the last event.
	Usage *Usage
}

// Usage counts an answer's tokens and time.
type Usage struct {
	Prompt      int           `json:"prompt"`   // tokens of the prompt
	Computed    int           `json:"computed"` // of them, those that were not cached
	Answer      int           `json:"answer"`   // tokens chosen, the one that ended it included
	PrefillTime time.Duration `json:"prefillNanoseconds"`
	DecodeTime  time.Duration `json:"decodeNanoseconds"` // from the first token to the last
}

// Chat answers a conversation. Control tokens in its messages are plain text.
// Messages that the session has seen are not computed again.
//
// The sequence ends with a DoneEvent; on a fault, with an error instead. A
// cancelled ctx ends it, within one step, with ctx's error; leaving the loop
// ends it too.
func (s *Session) Chat(ctx context.Context, conversation chat.Conversation, opts GenerateOptions) iter.Seq2[Event, error] {
	tokens, err := s.model.EncodeChat(conversation)
	if err != nil {
		return fails(err)
	}
	return s.Generate(ctx, tokens, opts)
}

// EncodeChat is the prompt that Chat computes, as token ids.
func (m *Model) EncodeChat(c chat.Conversation) ([]int32, error) {
	prompt, err := m.template.Render(c.Messages, c.Options)
	if err != nil {
		return nil, err
	}
	encoded, err := prompt.Encode(m.tokenizer, nil)
	if err != nil {
		return nil, err
	}
	if len(encoded.Media) > 0 {
		return nil, fmt.Errorf("%w: images and audio; send text alone", ErrUnsupported)
	}
	return int32s(encoded.IDs), nil
}

// Generate answers a prompt of tokens as they are, the model's turn begun by
// whoever made them. Otherwise it is like Chat.
func (s *Session) Generate(ctx context.Context, prompt []int32, opts GenerateOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		parser, err := chat.NewParser(s.model.tokenizer, chat.ParserOptions{Stop: opts.Stop})
		if err != nil {
			yield(Event{}, err)
			return
		}
		a := &answer{parser: parser, yield: yield, usage: Usage{Prompt: len(prompt)}, begun: time.Now()}
		choices := Choosing{Sampling: opts.Sampling, MaxTokens: opts.MaxTokens, Prefill: opts.Prefill, computed: &a.usage.Computed}
		for choice, err := range s.Choose(ctx, prompt, choices) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !a.take(choice) {
				return
			}
		}
		a.emit(a.parser.Finish(chat.ReasonLength))
	}
}

// answer makes events of choices.
type answer struct {
	parser *chat.Parser
	yield  func(Event, error) bool
	usage  Usage
	begun  time.Time
	first  time.Time
	tokens []sample.Choice // since the last event
}

// take is false when the answer has ended or the caller has left.
func (a *answer) take(choice sample.Choice) bool {
	now := time.Now()
	if a.usage.Answer == 0 {
		a.first, a.usage.PrefillTime = now, now.Sub(a.begun)
	}
	a.usage.DecodeTime = now.Sub(a.first)
	a.usage.Answer++
	a.tokens = append(a.tokens, choice)
	return a.emit(a.parser.Push(int(choice.Token))) && !a.parser.Done()
}

func (a *answer) emit(events []chat.Event) bool {
	for _, e := range events {
		out := Event{Event: e, Tokens: a.tokens}
		a.tokens = nil
		if e.Kind == chat.DoneEvent {
			usage := a.usage
			out.Usage = &usage
		}
		if !a.yield(out, nil) {
			return false
		}
	}
	return true
}

// fails is a sequence of nothing but an error.
func fails(err error) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Event{}, err) }
}

func int32s(ids []int) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = int32(id)
	}
	return out
}
