package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/wgslkit"
)

// openSession is a session with a number, and the answer that it gives.
type openSession struct {
	*gemma4.Session
	id    int
	model *openModel

	mu   sync.Mutex
	stop context.CancelCauseFunc // of the answer under way
	done chan struct{}           // closed when that has ended
}

func (c *call) session(ctx context.Context, m *openModel, p SessionParams) (any, error) {
	made, err := m.NewSession(p.Context)
	if errors.Is(err, wgslkit.ErrOutOfMemory) {
		return nil, smaller{err, &Suggestion{Context: cmp.Or(p.Context, m.Info().Context) / 2}}
	}
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, errors.Join(err, made.Close())
	}
	return c.engine.addSession(m, made).describe(), nil
}

func (e *Engine) addSession(m *openModel, made *gemma4.Session) *openSession {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &openSession{Session: made, id: e.number(), model: m}
	e.sessions[s.id] = s
	return s
}

func (s *openSession) describe() SessionResult {
	return SessionResult{Session: s.id, Context: s.Context(), Length: s.Len()}
}

// ref finds the session that the request names.
func (c *call) ref() (*openSession, error) {
	p, err := params[SessionRef](c)
	if err != nil {
		return nil, err
	}
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	s, ok := c.engine.sessions[p.Session]
	if !ok {
		return nil, fmt.Errorf("%w: session", gemma4.ErrClosed)
	}
	return s, nil
}

func (c *call) sessionState(context.Context) (any, error) {
	s, err := c.ref()
	if err != nil {
		return nil, err
	}
	return s.describe(), nil
}

func (c *call) reset(context.Context) (any, error) {
	s, err := c.ref()
	if err != nil {
		return nil, err
	}
	s.stopAnswer()
	return Nothing{}, s.Reset()
}

func (c *call) endSession(context.Context) (any, error) {
	s, err := c.ref()
	if err != nil {
		return nil, err
	}
	s.stopAnswer()
	return Nothing{}, c.engine.end(s)
}

func (e *Engine) end(s *openSession) error {
	e.mu.Lock()
	delete(e.sessions, s.id)
	e.mu.Unlock()
	return s.Close()
}

func (e *Engine) sessionsOf(m *openModel) (list []*openSession) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		if s.model == m {
			list = append(list, s)
		}
	}
	return list
}

func (c *call) stop(_ context.Context, m *openModel, _ ModelParams) (any, error) {
	c.engine.stopAnswers(m)
	return Nothing{}, nil
}

// stopAnswers ends every answer of a model and waits until they have ended.
func (e *Engine) stopAnswers(m *openModel) {
	for _, s := range e.sessionsOf(m) {
		s.stopAnswer()
	}
}

func (s *openSession) stopAnswer() {
	s.mu.Lock()
	stop, done := s.stop, s.done
	s.mu.Unlock()
	if stop != nil {
		stop(errStopped)
		<-done
	}
}

// begin notes how the answer that begins is stopped. Where another one is
// under way it changes nothing: the session itself refuses to give two.
func (s *openSession) begin(stop context.CancelCauseFunc) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		return func() {}
	}
	done := make(chan struct{})
	s.stop, s.done = stop, done
	return func() {
		s.mu.Lock()
		s.stop, s.done = nil, nil
		s.mu.Unlock()
		close(done)
	}
}
