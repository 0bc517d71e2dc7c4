package answer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/models"
)

// Service answers requests with the models of a library.
type Service struct {
	Library *models.Library
	Metrics *Metrics
	// MostTime is how long one request may take; 0 is as long as it likes.
	MostTime time.Duration
	// FetchMedia lets requests name pictures and clips by an http or https address of the public web.
	FetchMedia bool
	// Version is the server's own.
	Version string
	// Log hears of answers without a word.
	Log *slog.Logger
}

// Limit bounds a request's time. Call cancel when it is over.
func (s *Service) Limit(ctx context.Context) (limited context.Context, cancel context.CancelFunc) {
	if s.MostTime <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, s.MostTime, fmt.Errorf("%w: %v", ErrTime, s.MostTime))
}

// Answer makes the answers to a request, each of which ends with a chat.DoneEvent. Events of several answers come in
// any order. An error ends all of them.
func (s *Service) Answer(ctx context.Context, open *models.Open, r Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := r.check(); err != nil {
			yield(Event{}, err)
			return
		}
		r.Conversation.Messages = open.Entry.Opening(r.Conversation.Messages)
		if err := s.fetchMedia(ctx, r.Conversation.Messages); err != nil {
			yield(Event{}, err)
			return
		}
		r.leaveRoom()
		if r.N <= 1 {
			s.one(ctx, open, r, 0)(yield)
			return
		}
		s.several(ctx, open, r)(yield)
	}
}

// several makes answers at the same time, as far as the model does.
func (s *Service) several(ctx context.Context, open *models.Open, r Request) iter.Seq2[Event, error] {
	type result struct {
		event Event
		err   error
	}
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		results := make(chan result)
		var all sync.WaitGroup
		for i := range r.N {
			all.Go(func() {
				for e, err := range s.one(ctx, open, r, i) {
					select {
					case results <- result{e, err}:
					case <-ctx.Done():
						return
					}
				}
			})
		}
		defer all.Wait()
		defer cancel()
		go func() {
			all.Wait()
			close(results)
		}()
		ended := 0
		for got := range results {
			if !yield(got.event, got.err) || got.err != nil {
				return
			}
			if got.event.Kind == chat.DoneEvent {
				ended++
			}
		}
		if err := context.Cause(ctx); err != nil && ended < r.N {
			yield(Event{}, err)
		}
	}
}

// one makes answer number i.
func (s *Service) one(ctx context.Context, open *models.Open, r Request, i int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		w := s.Metrics.begin(open.Entry.Name)
		defer w.end()
		said := said{}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for e, err := range open.Answer(ctx, r.job(i)) {
			if err != nil {
				if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
					err = cause
				}
				w.fail(err)
				yield(Event{}, err)
				return
			}
			w.event(e)
			events := said.add(e)
			s.tellNothing(ctx, open.Entry.Name, &said, e)
			for _, e := range events {
				if !yield(Event{i, e}, nil) {
					w.left()
					return
				}
				if e.Kind == chat.DoneEvent {
					return
				}
			}
		}
	}
}

// tellNothing logs an answer that the model ended before it said a word.
func (s *Service) tellNothing(ctx context.Context, model string, said *said, e gemma4.Event) {
	if e.Kind == chat.DoneEvent && e.Reason == chat.ReasonStop && !said.words {
		s.Log.InfoContext(ctx, "the model ended its answer without a word", "model", model)
	}
}

// said looks after what an answer says: it is never empty because all of it was thought.
type said struct {
	thoughts []string
	text     bool
	words    bool // text that is no space, or a call
}

// add takes an event and gives those to pass on.
func (s *said) add(e gemma4.Event) []gemma4.Event {
	switch e.Kind {
	case chat.ThinkingEvent:
		s.thoughts = append(s.thoughts, e.Text)
	case chat.TextEvent, chat.CallEvent, chat.MalformedEvent:
		s.text = true
		s.words = s.words || e.Speaks()
	case chat.DoneEvent:
		if s.text || len(s.thoughts) == 0 || e.Reason != chat.ReasonStop {
			break
		}
		// The model ended its turn and meant what it thought as its answer.
		s.words = true
		var all string
		for _, t := range s.thoughts {
			all += t
		}
		return []gemma4.Event{{Event: chat.Event{Kind: chat.TextEvent, Text: all}}, e}
	}
	return []gemma4.Event{e}
}

// Count is how many tokens a request's prompt has. Nothing is computed.
func (s *Service) Count(ctx context.Context, open *models.Open, r Request) (int, error) {
	r.Conversation.Messages = open.Entry.Opening(r.Conversation.Messages)
	if err := s.fetchMedia(ctx, r.Conversation.Messages); err != nil {
		return 0, err
	}
	prompt, err := open.Model.EncodeChat(ctx, r.Conversation)
	return len(prompt.Tokens), err
}
