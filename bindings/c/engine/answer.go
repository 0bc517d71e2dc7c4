package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal/fault"
)

// Say goes on with the session's own conversation: the user says text, about the
// media before it, and the model answers. An answer that was cancelled stays in
// the conversation with the part that came; after another failure, the
// conversation is as it was before.
func (e *Engine) Say(ctx context.Context, h Handle, text string, media []Medium, o AnswerOptions) (Result, error) {
	return e.answer(ctx, h, o, func(ctx context.Context, s *session, a *answer) error {
		message, err := userMessage(text, media)
		if err != nil {
			return err
		}
		err = a.chat(ctx, append(s.talk.Messages(), message))
		if err == nil || kindOf(err) == fault.Cancelled {
			s.talk.Append(message, a.message())
		}
		return err
	})
}

// Chat answers a conversation that the caller keeps. The media are the bytes of
// its parts that have none, in order.
func (e *Engine) Chat(ctx context.Context, h Handle, messages []chat.Message, media []Medium,
	o AnswerOptions) (Result, error) {
	return e.answer(ctx, h, o, func(ctx context.Context, s *session, a *answer) error {
		if err := placeMedia(messages, media); err != nil {
			return err
		}
		return a.chat(ctx, messages)
	})
}

// Generate goes on from a text that the caller has made, in which control tokens
// count, with nothing of a chat's format around it. A text that does not begin with the token that
// begins texts gets it.
func (e *Engine) Generate(ctx context.Context, h Handle, prompt string, o AnswerOptions) (Result, error) {
	return e.answer(ctx, h, o, func(ctx context.Context, s *session, a *answer) error {
		t := s.model.Tokenizer()
		ids := t.EncodeSpecial(prompt)
		if t.AddBOS() && (len(ids) == 0 || ids[0] != t.BOS()) {
			ids = append([]int{t.BOS()}, ids...)
		}
		tokens := make([]int32, len(ids))
		for i, id := range ids {
			tokens[i] = int32(id)
		}
		return a.generate(ctx, gemma4.Tokens(tokens))
	})
}

// answer runs one answer of a session.
func (e *Engine) answer(ctx context.Context, h Handle, o AnswerOptions,
	run func(context.Context, *session, *answer) error) (Result, error) {
	s, err := enter[*session](e, h, "session")
	if err != nil {
		return Result{}, err
	}
	defer s.leave()
	ctx, err = s.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer s.end()
	a := &answer{session: s, options: o, begun: time.Now()}
	err = run(ctx, s, a)
	s.answered.Lock()
	s.last = a.message()
	s.answered.Unlock()
	if err != nil {
		return a.broken(err)
	}
	u := a.result.Usage
	e.log(Info, "%d tokens answered to %d, %d of them computed: %v to the first, %v for the others",
		u.Answer, u.Prompt, u.Computed, u.PrefillTime.Round(time.Millisecond), u.DecodeTime.Round(time.Millisecond))
	return a.result, nil
}

// answer is one that is under way.
type answer struct {
	session *session
	options AnswerOptions
	result  Result
	gathered

	begun, first time.Time // of the call, and of the first token
}

func (a *answer) chat(ctx context.Context, messages []chat.Message) error {
	prompt, err := a.fit(ctx, a.options.conversation(messages))
	if err != nil {
		return causeOf(ctx, err)
	}
	if o := &a.options; o.Form == nil {
		o.Form = o.Calls.Form(o.Tools)
	}
	return a.generate(ctx, prompt)
}

// fit encodes a conversation, without what may be forgotten and has no room.
func (a *answer) fit(ctx context.Context, c chat.Conversation) (gemma4.Prompt, error) {
	if !a.options.Forget {
		return a.session.EncodeChat(ctx, c)
	}
	f, err := a.session.FitChat(ctx, c, a.options.MaxTokens)
	if err == nil && f.Forgotten > 0 {
		a.result.Usage.Forgotten = f.Forgotten
		a.tell(Event{Kind: ForgottenEvent, Done: f.Forgotten, Total: len(c.Messages)})
	}
	return f.Prompt, err
}

func (a *answer) generate(ctx context.Context, prompt gemma4.Prompt) error {
	a.result.Usage.Prompt = len(prompt.Tokens)
	for event, err := range a.session.Generate(ctx, prompt, a.options.generate(a.prefill)) {
		if err != nil {
			return causeOf(ctx, err)
		}
		a.count(len(event.Tokens))
		if event.Usage != nil {
			forgotten := a.result.Usage.Forgotten
			a.result = Result{Reason: event.Reason, InCall: event.InCall, Usage: *event.Usage}
			a.result.Usage.Forgotten = forgotten
		}
		a.tell(a.take(event, a.session.newCallID))
		if cause := context.Cause(ctx); cause != nil && event.Usage == nil {
			return cause
		}
	}
	return nil
}

// causeOf says why ctx has ended, where that is what err is about.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && (errors.Is(err, cause) || errors.Is(err, ctx.Err())) {
		return cause
	}
	return err
}

func (a *answer) prefill(done, total int) {
	a.result.Usage.Computed = total
	a.tell(Event{Kind: PrefillEvent, Done: done, Total: total})
}

// tell calls the caller back, until it has said that it wants no more.
func (a *answer) tell(e Event) {
	if a.options.Event == nil || a.options.Event(e) {
		return
	}
	a.options.Event = nil
	a.session.cancel(errCallback)
}

func (s *session) newCallID() string {
	s.calls++
	return fmt.Sprintf("call_%d", s.calls)
}

// count keeps our own account: the session's comes with the last event, and one
// that is cancelled has none.
func (a *answer) count(tokens int) {
	if tokens == 0 {
		return
	}
	u := &a.result.Usage
	now := time.Now()
	if u.Answer == 0 {
		a.first, u.PrefillTime = now, now.Sub(a.begun)
	}
	u.Answer += tokens
	u.DecodeTime = now.Sub(a.first)
}

// broken is the result of an answer that ended with an error.
func (a *answer) broken(err error) (Result, error) {
	if kindOf(err) == fault.Cancelled {
		a.result.Reason = chat.ReasonCancelled
	}
	return a.result, err
}
