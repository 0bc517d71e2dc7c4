package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// errStopped ends an answer as its caller wished: with a done event.
var errStopped = errors.New("stopped")

func (c *call) chat(ctx context.Context) (any, error) {
	p, err := c.chatParams()
	if err != nil {
		return nil, err
	}
	if len(p.Messages) == 0 {
		return nil, fmt.Errorf("%w: a conversation without messages", errArgument)
	}
	if err := c.place(p.Messages, p.Media); err != nil {
		return nil, err
	}
	s, err := c.ref()
	if err != nil {
		return nil, err
	}
	defer s.model.audience.join(c)()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer s.begin(stop)()
	fitted, err := p.fit(ctx, s)
	if err != nil {
		return nil, err
	}
	a := &answer{call: c, tokenizer: s.model.Tokenizer(), begun: time.Now(), usage: Usage{
		PromptTokens: len(fitted.Prompt.Tokens), Forgotten: fitted.Forgotten,
	}}
	if fitted.Forgotten > 0 {
		c.event(ChatEvent{Type: "forgotten", Messages: fitted.Forgotten, Known: len(fitted.Conversation.Messages)})
	}
	options := p.options()
	options.Prefill = a.prefill
	for event, err := range s.Generate(ctx, fitted.Prompt, options) {
		if errors.Is(context.Cause(ctx), errStopped) && err != nil {
			a.cancelled()
			return Nothing{}, nil
		}
		if err != nil {
			return nil, err
		}
		if err := a.take(event); err != nil {
			return nil, err
		}
	}
	return Nothing{}, nil
}

// fit encodes the conversation, without what may be forgotten and has no room.
func (p ChatParams) fit(ctx context.Context, s *openSession) (gemma4.Fitted, error) {
	conversation := chat.Conversation{Messages: p.Messages, Options: chat.Options{
		Tools: p.Tools, EnableThinking: p.Thinking, PreserveThinking: p.PreserveThinking,
	}}
	if p.Forget {
		return s.FitChat(ctx, conversation, p.MaxTokens)
	}
	prompt, err := s.EncodeChat(ctx, conversation)
	return gemma4.Fitted{Prompt: prompt, Conversation: conversation}, err
}

// chatParams reads the request over what Gemma recommends.
func (c *call) chatParams() (ChatParams, error) {
	p := ChatParams{Params: sample.Default()}
	p.Seed = rand.Uint64()
	err := c.read(&p)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		value := strings.TrimPrefix(wrong.Value, "number ")
		if setting, ok := sampling.Find(sampling.Settings, name); ok {
			return p, &sampling.Error{Setting: setting.Name, Value: value, Wanted: setting.Wanted()}
		}
		if setting, ok := sampling.Find(gemma4.AnswerSettings, name); ok {
			return p, &sampling.Error{Setting: setting.Name, Value: value, Wanted: setting.Wanted()}
		}
	}
	return p, err
}

func (p ChatParams) options() gemma4.GenerateOptions {
	o := gemma4.GenerateOptions{
		Sampling: p.Params, MaxTokens: p.MaxTokens, Stop: p.Stop, Drafts: p.Drafts, AssistantDrafts: p.AssistantDrafts,
		ThinkingBudget: p.ThinkingBudget, RepetitionGuard: p.RepetitionGuard,
		Form: p.Form, Calls: p.Calls.calls(),
	}
	switch {
	case o.Form == nil:
		o.Form = o.Calls.Form(p.Tools)
	case o.Calls.Choice == grammar.ToolRequired || o.Calls.Choice == grammar.ToolNamed:
		both := *o.Form
		both.Tools = o.Calls.Form(p.Tools).Tools
		o.Form = &both
	}
	return o
}

func (c *CallParams) calls() gemma4.Calls {
	if c == nil {
		return gemma4.Calls{}
	}
	calls := gemma4.ParseCalls(c.Choice)
	if c.Name != "" {
		calls = gemma4.Calls{Choice: grammar.ToolNamed, Name: c.Name}
	}
	calls.Single = c.Single
	return calls
}

// answer turns gemma4's events into the protocol's.
type answer struct {
	call      *call
	tokenizer *tokenizer.Tokenizer
	usage     Usage
	begun     time.Time
	first     time.Time // when the first token came
	calls     int
}

func (a *answer) prefill(done, total int) {
	a.usage.ComputedTokens = total
	a.call.event(ChatEvent{Type: "prefill", Done: &done, Total: &total})
}

func (a *answer) take(e gemma4.Event) error {
	a.countTokens(len(e.Tokens))
	out := ChatEvent{Text: e.Text, Tokens: a.chosen(e.Tokens)}
	switch e.Kind {
	case chat.TextEvent:
		out.Type = "text"
	case chat.ThinkingEvent:
		out.Type = "thinking"
	case chat.CallEvent:
		out.Type, out.Call, out.Repairs = "tool_call", a.toolCall(e.Call), e.Repairs
	case chat.MalformedEvent:
		out.Type, out.Error = "malformed_call", e.Err.Error()
	case chat.DoneEvent:
		usage := usageOf(e.Usage)
		usage.Forgotten = a.usage.Forgotten
		out.Type, out.Reason, out.Stop, out.InCall, out.Usage = "done", e.Reason, e.Stop, e.InCall, &usage
	default:
		return fmt.Errorf("%w: event %d", errProtocol, e.Kind)
	}
	a.call.event(out)
	return nil
}

// chosen are tokens whose log-probabilities are known.
func (a *answer) chosen(choices []sample.Choice) (list []ChosenToken) {
	for _, c := range choices {
		if len(c.Top) == 0 {
			continue
		}
		token := ChosenToken{TokenLogProb: a.token(sample.LogProb{Token: c.Token, LogProb: c.LogProb})}
		for _, top := range c.Top {
			token.Top = append(token.Top, a.token(top))
		}
		list = append(list, token)
	}
	return list
}

// token spells a token out. JSON has no infinity, which a token of no probability would need.
func (a *answer) token(p sample.LogProb) TokenLogProb {
	text, err := a.tokenizer.Decode([]int{int(p.Token)}, tokenizer.DecodeOptions{})
	if err != nil {
		text = "" // a token without text
	}
	return TokenLogProb{ID: p.Token, Text: text, LogProb: max(p.LogProb, -math.MaxFloat32)}
}

func (a *answer) toolCall(c chat.ToolCall) *Call {
	a.calls++
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d_%d", a.call.ID, a.calls)
	}
	if len(c.Arguments) == 0 {
		c.Arguments = json.RawMessage("{}")
	}
	return &Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments}
}

func (a *answer) countTokens(n int) {
	now := time.Now()
	if n > 0 && a.first.IsZero() {
		a.first = now
		a.usage.PrefillMs = milliseconds(now.Sub(a.begun))
	}
	a.usage.AnswerTokens += n
	if !a.first.IsZero() {
		a.usage.DecodeMs = milliseconds(now.Sub(a.first))
	}
}

// cancelled ends the answer where its caller stopped it. The session's own
// count does not come then, so it is ours.
func (a *answer) cancelled() {
	a.usage.TokensPerSecond = rate(a.usage.AnswerTokens, a.usage.DecodeMs)
	a.call.event(ChatEvent{Type: "done", Reason: chat.ReasonCancelled, Usage: &a.usage})
}

func usageOf(u *gemma4.Usage) Usage {
	out := Usage{
		PromptTokens: u.Prompt, ComputedTokens: u.Computed, AnswerTokens: u.Answer,
		Media: u.Media, MediaMs: milliseconds(u.MediaTime),
		PrefillMs: milliseconds(u.PrefillTime), DecodeMs: milliseconds(u.DecodeTime),
		Forced: u.Forced, Drafted: u.Drafted, DraftsRight: u.DraftsRight, Assisted: u.Assisted,
		AssistedRight: u.AssistedRight,
	}
	out.TokensPerSecond = rate(out.AnswerTokens, out.DecodeMs)
	return out
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// rate is tokens a second: the first token came with the prompt.
func rate(tokens int, ms float64) float64 {
	if tokens < 2 || ms <= 0 {
		return 0
	}
	return float64(tokens-1) / ms * 1000
}
