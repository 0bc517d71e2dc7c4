package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/conversation"
)

// session is an open session with a number, and the conversation that Say
// carries on in it.
type session struct {
	*gemma4.Session
	lifetime
	failed failures
	model  *model

	mu   sync.Mutex
	stop context.CancelCauseFunc // of the answer under way

	// For whoever has begun.
	talk  *conversation.Conversation
	calls int // tool calls that were given an id

	answered sync.Mutex
	last     chat.Message // the last answer
}

func (s *session) failures() *failures { return &s.failed }

func (s *session) cancel(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop(cause)
	}
}

// begin makes the context of an answer, or of something that must not meet one.
func (s *session) begin(ctx context.Context) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		return nil, fmt.Errorf("%w: this session is answering; wait, cancel it, or open another session",
			gemma4.ErrBusy)
	}
	if s.shutting() {
		return nil, errClosing // and there will be nobody to cancel it
	}
	ctx, s.stop = context.WithCancelCause(ctx)
	s.model.answering(s, true)
	return ctx, nil
}

func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop(nil)
	s.stop = nil
	s.model.answering(s, false)
}

// OpenSession makes a session of n tokens of a model; 0 means as many as the
// model was opened with.
func (e *Engine) OpenSession(h Handle, n int) (Handle, error) {
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return 0, err
	}
	made, err := m.NewSession(n)
	if err != nil {
		m.leave()
		return 0, err
	}
	s := &session{Session: made, model: m, talk: conversation.New(made)}
	s.release = func() error {
		defer m.leave() // the session is one of the model's users
		err := s.Session.Close()
		s.Session = nil
		return err
	}
	return e.add(s), nil
}

// Reset forgets a session's text and its conversation.
func (e *Engine) Reset(h Handle) error {
	return e.between(h, func(s *session) error {
		return s.talk.Reset()
	})
}

// SetSystem begins the conversation that Say carries on with a system prompt. An
// empty one takes it away.
func (e *Engine) SetSystem(h Handle, text string) error {
	return e.between(h, func(s *session) error {
		s.talk.SetSystem(text)
		return nil
	})
}

// between does something to a session that must not meet an answer.
func (e *Engine) between(h Handle, do func(*session) error) error {
	s, err := enter[*session](e, h, "session")
	if err != nil {
		return err
	}
	defer s.leave()
	if _, err := s.begin(context.Background()); err != nil {
		return err
	}
	defer s.end()
	return do(s)
}

// LastText is the text of the session's last answer, or of the part of it that
// came.
func (e *Engine) LastText(h Handle) (string, error) {
	m, err := e.lastMessage(h)
	return m.Content.String(), err
}

func (e *Engine) lastMessage(h Handle) (chat.Message, error) {
	s, err := enter[*session](e, h, "session")
	if err != nil {
		return chat.Message{}, err
	}
	defer s.leave()
	s.answered.Lock()
	defer s.answered.Unlock()
	return s.last, nil
}
