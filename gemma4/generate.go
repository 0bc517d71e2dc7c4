package gemma4

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// GenerateOptions say how an answer is made. The zero value is greedy, as long
// as the context allows.
type GenerateOptions struct {
	// Sampling chooses each token; see sample.Default for what Gemma recommends.
	Sampling sample.Params
	// MaxTokens bounds the answer, beside what the context leaves; 0 means no other bound.
	MaxTokens int
	// Stop ends the answer where one of these strings appears in its text.
	Stop []string
	// ThinkingBudget bounds the tokens of the answer's thoughts: where they are spent, the
	// thought is closed and the answer goes on behind it. 0 means no bound.
	ThinkingBudget int
	// RepetitionGuard ends the answer, with chat.ReasonRepetition, where its last so many
	// tokens say one thing over and over again, at least four times. 0 does not look.
	RepetitionGuard int
	// Prefill, where set, hears how much of the prompt is computed.
	Prefill func(done, total int)
	// Form, where set, is what the answer must look like. A thought is free and comes
	// before; a Stop or the limit of tokens may cut the answer short.
	Form *Form
	// Constraint is the same, compiled by Model.Constraint; it goes before Form.
	Constraint *grammar.Constraint
	// Calls say how Chat's answers call the conversation's tools, where neither Form nor
	// Constraint is set. With one of these, an answer makes no calls.
	Calls Calls
	// Drafts and AssistantDrafts are how many tokens a draft has, at most;
	// see Choosing.
	Drafts, AssistantDrafts int
	// Forget lets Chat leave out a conversation's oldest turns where it needs their room,
	// as FitChat does. Forgot, where set, hears of it before the prompt is computed, and
	// when it is near.
	Forget bool
	Forgot func(Forgotten)
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
	Prompt        int           `json:"prompt"`                  // tokens of the prompt, soft ones included
	Computed      int           `json:"computed"`                // of them, those that were not cached
	Forgotten     int           `json:"forgotten,omitempty"`     // messages that Chat left out; see GenerateOptions.Forget
	Media         int           `json:"media,omitempty"`         // images and clips that were encoded
	Answer        int           `json:"answer"`                  // tokens chosen, the one that ended it included
	Forced        int           `json:"forced,omitempty"`        // of them, those that the form left no choice of
	Drafted       int           `json:"drafted,omitempty"`       // tokens drafted; see Choosing.Drafts
	DraftsRight   int           `json:"draftsRight,omitempty"`   // of them, those that the model chose
	Assisted      int           `json:"assisted,omitempty"`      // of those drafted, the assistant's
	AssistedRight int           `json:"assistedRight,omitempty"` // of the assistant's, those that the model chose
	MediaTime     time.Duration `json:"mediaNanoseconds,omitempty"`
	PrefillTime   time.Duration `json:"prefillNanoseconds"` // that of media included
	DecodeTime    time.Duration `json:"decodeNanoseconds"`  // from the first token to the last
}

// Chat answers a conversation. Control tokens in its messages are plain text.
// Messages that the session has seen are not computed again, nor are their
// images and clips encoded. For those, a MediaEncoder has to be set.
//
// The sequence ends with a DoneEvent; on a fault, with an error instead. A
// cancelled ctx ends it, within one step, with ctx's error; leaving the loop
// ends it too.
func (s *Session) Chat(ctx context.Context, conversation chat.Conversation,
	opts GenerateOptions) iter.Seq2[Event, error] {
	return s.chat(ctx, conversation, opts, s.Generate)
}

// chat is Chat with the prompts answered by generate.
func (s *Session) chat(ctx context.Context, conversation chat.Conversation, opts GenerateOptions,
	generate func(context.Context, Prompt, GenerateOptions) iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		fitted, err := s.fitted(ctx, conversation, opts)
		if err != nil {
			yield(Event{}, err)
			return
		}
		if opts.Form == nil && opts.Constraint == nil {
			opts.Form = opts.Calls.Form(conversation.Options.Tools)
		}
		generate(ctx, fitted.Prompt, opts)(func(e Event, err error) bool {
			if e.Usage != nil {
				e.Usage.Forgotten = fitted.Forgotten
			}
			return yield(e, err)
		})
	}
}

// fitted encodes a conversation, as far as there is room for it where the rest may be
// forgotten.
func (s *Session) fitted(ctx context.Context, c chat.Conversation, opts GenerateOptions) (Fitted, error) {
	if !opts.Forget {
		prompt, err := s.EncodeChat(ctx, c)
		return Fitted{Prompt: prompt, Conversation: c}, err
	}
	f, err := s.FitChat(ctx, c, opts.MaxTokens)
	if err == nil && (f.Forgotten > 0 || f.Tight) && opts.Forgot != nil {
		opts.Forgot(Forgotten{Messages: f.Forgotten, Known: len(f.Conversation.Messages), Tight: f.Tight})
	}
	return f, err
}

// Generate answers a prompt as it is, the model's turn begun by whoever made it.
// Otherwise it is like Chat.
func (s *Session) Generate(ctx context.Context, prompt Prompt, opts GenerateOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		a, choices, err := s.model.newAnswer(ctx, prompt, opts)
		if err != nil {
			yield(Event{}, err)
			return
		}
		a.yield = yield
		// The thought may be closed on the way: the same guide leads what comes behind it.
		if choices.guide, err = s.model.newGuide(choices, prompt.Tokens); err != nil {
			yield(Event{}, err)
			return
		}
		for more := true; more; {
			more = s.generate(ctx, &prompt, &choices, a)
		}
	}
}

// newAnswer reads choices as an answer to a prompt, and says how they are made.
func (m *Model) newAnswer(ctx context.Context, prompt Prompt, opts GenerateOptions) (*answer, Choosing, error) {
	if err := sampling.Check(AnswerSettings, &opts); err != nil {
		return nil, Choosing{}, err
	}
	parser, err := chat.NewParser(m.tokenizer, chat.ParserOptions{Template: m.template, Stop: opts.Stop,
		Prompt: prompt.Tokens})
	if err != nil {
		return nil, Choosing{}, err
	}
	constraint, err := m.constraintOf(ctx, opts)
	if err != nil {
		return nil, Choosing{}, err
	}
	a := &answer{parser: parser, usage: Usage{Prompt: len(prompt.Tokens)}, begun: time.Now(),
		repetition: repetition{most: opts.RepetitionGuard}}
	if a.budget, err = m.newThoughtBudget(prompt.Tokens, opts.ThinkingBudget); err != nil {
		return nil, Choosing{}, err
	}
	return a, Choosing{
		Sampling: opts.Sampling, MaxTokens: opts.MaxTokens, Prefill: opts.Prefill,
		Drafts: opts.Drafts, AssistantDrafts: opts.AssistantDrafts, Constraint: constraint, Usage: &a.usage,
	}, nil
}

// generate answers a prompt up to the end of the answer, or to where its thought has to be
// closed: then more is true, and prompt and c are for what comes behind that.
func (s *Session) generate(ctx context.Context, prompt *Prompt, c *Choosing, a *answer) (more bool) {
	chosen, computed := len(a.chosen), a.usage.Computed
	for choice, err := range s.Choose(ctx, *prompt, *c) {
		if err != nil {
			a.yield(Event{}, err)
			return false
		}
		if !a.take(choice) {
			return false
		}
		if a.overBudget {
			break
		}
	}
	if chosen > 0 {
		a.usage.Computed = computed // of the prompt that was asked for
	}
	left := s.context - len(prompt.Tokens) - (len(a.chosen) - chosen)
	if c.MaxTokens > 0 {
		c.MaxTokens -= len(a.chosen) - chosen
		left = min(left, c.MaxTokens)
	}
	if !a.overBudget || left < 2 {
		a.emit(a.parser.Finish(chat.ReasonLength))
		return false
	}
	end, _ := a.closing()
	a.usage.Forced++
	if err := c.guide.accept(end); err != nil {
		a.yield(Event{}, err)
		return false
	}
	if !a.take(sample.Choice{Token: end}) {
		return false
	}
	if c.MaxTokens > 0 {
		c.MaxTokens--
	}
	prompt.Tokens, c.Prefill = slices.Concat(prompt.Tokens, a.chosen[chosen:]), nil
	return true
}

// answer makes events of choices.
type answer struct {
	parser *chat.Parser
	yield  func(Event, error) bool
	usage  Usage
	begun  time.Time
	first  time.Time
	tokens []sample.Choice // since the last event
	chosen []int32         // all of them

	budget     thoughtBudget
	overBudget bool // the thought has to end here
	repetition repetition
}

// take is false when the answer has ended or the caller has left.
func (a *answer) take(choice sample.Choice) bool {
	now := time.Now()
	if a.usage.Answer == 0 {
		a.first, a.usage.PrefillTime = now, now.Sub(a.begun)
	}
	a.usage.DecodeTime = now.Sub(a.first)
	a.usage.Answer++
	a.tokens, a.chosen = append(a.tokens, choice), append(a.chosen, choice.Token)
	a.overBudget = a.budget.push(choice.Token)
	if !a.emit(a.parser.Push(int(choice.Token))) || a.parser.Done() {
		return false
	}
	if a.repetition.push(choice.Token) {
		a.emit(a.parser.Finish(chat.ReasonRepetition))
		return false
	}
	return true
}

// closing says whether the answer's thought has to end here, and by which token.
func (a *answer) closing() (int32, bool) { return int32(a.budget.Close), a.overBudget }

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

func int32s(ids []int) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = int32(id)
	}
	return out
}
