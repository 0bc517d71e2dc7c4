package gemma4

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Session is one text and what has been computed of it. It answers one prompt
// at a time; a prompt that begins like the text before is only computed from
// where it differs.
type Session struct {
	model   *Model
	state   state
	context int
	// tokens is the text: the first state.length() of them are in the caches.
	tokens []int32
	busy   atomic.Bool
	closed bool
}

// NewSession makes a session of n tokens, prompt and answers together; 0 means
// as many as the model was opened with.
func (m *Model) NewSession(n int) (*Session, error) {
	if n == 0 {
		n = m.context
	}
	if n < 1 || n > m.arch.Config.ContextLength {
		return nil, fmt.Errorf("%w: a session of %d tokens; this model takes 1 to %d", ErrUnsupported, n, m.arch.Config.ContextLength)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("%w: model", ErrClosed)
	}
	st, err := m.engine.newState(n)
	if err != nil {
		return nil, err
	}
	m.sessions++
	return &Session{model: m, state: st, context: n}, nil
}

// Model is the model that the session is of.
func (s *Session) Model() *Model { return s.model }

// Context is how many tokens the session holds at most.
func (s *Session) Context() int { return s.context }

// Len is how many tokens of the text are computed and cached.
func (s *Session) Len() int { return s.state.length() }

// Tokens is the text of the session: what was prompted and answered last.
func (s *Session) Tokens() []int32 { return append([]int32(nil), s.tokens...) }

// Reset forgets the text.
func (s *Session) Reset() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	s.tokens = s.tokens[:0]
	s.state.rewind(0)
	return nil
}

// Close frees the session's caches.
func (s *Session) Close() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	s.closed = true
	s.state.close()
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	s.model.sessions--
	return nil
}

func (s *Session) begin() error {
	if !s.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: stop the answer under way first", ErrBusy)
	}
	if s.closed {
		s.busy.Store(false)
		return fmt.Errorf("%w: session", ErrClosed)
	}
	return nil
}

func (s *Session) end() { s.busy.Store(false) }

// Logits computes tokens as a text of their own and hands over each position's
// logits, after the softcap, in order. row is only valid during the call.
// The session then holds that text.
func (s *Session) Logits(ctx context.Context, tokens []int32, each func(i int, row []float32) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if err := s.check(tokens); err != nil {
		return err
	}
	if err := s.room(len(tokens), 0); err != nil {
		return err
	}
	s.state.rewind(0)
	err := s.state.allLogits(ctx, tokens, each)
	s.tokens = append(s.tokens[:0], tokens[:s.state.length()]...)
	return err
}

// check refuses tokens that the vocabulary does not have.
func (s *Session) check(tokens []int32) error {
	if len(tokens) == 0 {
		return fmt.Errorf("%w: an empty prompt", ErrUnsupported)
	}
	for i, t := range tokens {
		if t < 0 || int(t) >= s.model.arch.Config.Vocab {
			return fmt.Errorf("%w: token %d at position %d; the vocabulary has tokens 0 to %d", ErrUnsupported, t, i, s.model.arch.Config.Vocab-1)
		}
	}
	return nil
}

// room refuses, before any work, what does not fit.
func (s *Session) room(prompt, answer int) error {
	if prompt+answer > s.context {
		return fmt.Errorf("%w: a prompt of %d tokens and an answer of %d in a session of %d; shorten the conversation, ask for fewer tokens, or open a larger context (the model takes %d)",
			ErrContextFull, prompt, answer, s.context, s.model.arch.Config.ContextLength)
	}
	return nil
}

// advance brings the caches to tokens, computing only what they do not hold,
// and the last token in any case: its logits are wanted. It returns how many
// tokens were computed.
func (s *Session) advance(ctx context.Context, tokens []int32, report func(done, total int)) (int, error) {
	same := min(commonPrefix(s.tokens[:s.state.length()], tokens), len(tokens)-1)
	if same < s.state.length() {
		same = s.state.rewind(same)
	}
	s.tokens = s.tokens[:same]
	rest := tokens[same:]
	err := s.state.prefill(ctx, rest, func(done int) {
		if report != nil {
			report(done, len(rest))
		}
	})
	s.tokens = append(s.tokens, tokens[same:s.state.length()]...)
	return len(rest), err
}

func commonPrefix(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
