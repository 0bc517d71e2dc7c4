package gemma4

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
)

// Session is one text and what has been computed of it. It answers one prompt
// at a time; a prompt that begins like the text before is only computed from
// where it differs.
type Session struct {
	model   *Model
	state   engine.State
	context int
	// text is what was prompted and answered: its first state.Len() positions
	// are in the caches. Whoever holds busy reads it; it is changed under view, as
	// is cached, so that Len and Tokens may be asked while an answer is under way.
	view   sync.Mutex
	text   Prompt
	cached int
	soft   softCache
	busy   atomic.Bool
	closed bool
	// mix is the model's when the caches were begun.
	mix *adapterMix
}

// NewSession makes a session of n tokens, prompt and answers together; 0 means
// as many as the model was opened with.
func (m *Model) NewSession(n int) (*Session, error) {
	if n == 0 {
		n = m.context
	}
	if n < 1 || n > m.arch.Config.ContextLength {
		return nil, fmt.Errorf("%w: a session of %d tokens; this model takes 1 to %d", ErrUnsupported, n,
			m.arch.Config.ContextLength)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("%w: model", ErrClosed)
	}
	m.adapters.using.RLock()
	defer m.adapters.using.RUnlock()
	st, err := m.engine.NewState(n)
	if err != nil {
		return nil, err
	}
	m.sessions++
	return &Session{model: m, state: st, context: n, mix: m.adapters.mix}, nil
}

// Model is the model that the session is of.
func (s *Session) Model() *Model { return s.model }

// Context is how many tokens the session holds at most.
func (s *Session) Context() int { return s.context }

// Len is how many tokens of the text are computed and cached. Like Tokens, it may be
// asked by another goroutine while an answer is under way.
func (s *Session) Len() int {
	s.view.Lock()
	defer s.view.Unlock()
	return s.cached
}

// Tokens is the text of the session as far as it is cached: what was prompted and answered
// last, with placeholders where soft tokens stand. The newest token of an answer is cached
// when the next one is chosen, and that of a finished answer not at all.
func (s *Session) Tokens() []int32 {
	s.view.Lock()
	defer s.view.Unlock()
	return append([]int32(nil), s.text.Tokens[:min(len(s.text.Tokens), s.cached)]...)
}

// setText makes text what Len and Tokens tell of, with what the caches hold of it.
func (s *Session) setText(text Prompt) {
	s.view.Lock()
	defer s.view.Unlock()
	text.Tokens = slices.Clone(text.Tokens) // the caller's stay as they are when some are pushed
	s.text, s.cached = text, s.state.Len()
}

// truncate shortens the text to n tokens.
func (s *Session) truncate(n int) {
	s.view.Lock()
	defer s.view.Unlock()
	s.text.truncate(n)
	s.cached = s.state.Len()
}

// push makes token number n of the text the last one.
func (s *Session) push(n int, token int32) {
	s.view.Lock()
	defer s.view.Unlock()
	s.text.Tokens = append(s.text.Tokens[:n], token)
	s.cached = s.state.Len()
}

// Reset forgets the text.
func (s *Session) Reset() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	s.clear()
	s.soft.clear()
	return nil
}

// clear empties the text and its caches.
func (s *Session) clear() {
	s.state.Rewind(0)
	s.setText(Prompt{})
}

// Close frees the session's caches.
func (s *Session) Close() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	s.closed = true
	s.state.Close()
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
	s.model.adapters.using.RLock()
	if mix := s.model.adapters.mix; s.mix != mix {
		s.clear() // it was computed under other adapters
		s.mix = mix
	}
	return nil
}

func (s *Session) end() {
	s.model.adapters.using.RUnlock()
	s.busy.Store(false)
}

// Logits computes a prompt as a text of its own and hands over each position's
// logits, after the softcap, in order. row is only valid during the call.
// The session then holds that text.
func (s *Session) Logits(ctx context.Context, prompt Prompt, each func(i int, row []float32) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if err := prompt.check(s.model.arch.Config); err != nil {
		return err
	}
	if _, err := s.room(len(prompt.Tokens), 0); err != nil {
		return err
	}
	s.clear()
	all, err := s.piece(ctx, &prompt, 0, &Usage{})
	if err != nil {
		return err
	}
	err = s.state.AllLogits(ctx, all, each)
	s.setText(prompt.until(s.state.Len()))
	return err
}

// room refuses, before any work, a prompt that does not fit with at least so many tokens
// behind it, and tells how many may come.
func (s *Session) room(prompt, least int) (int, error) {
	if least > s.context-prompt {
		return 0, &ContextFullError{Prompt: prompt, Context: s.context, Most: s.model.arch.Config.ContextLength}
	}
	return s.context - prompt, nil
}

// advance brings the caches to prompt, computing only what they do not hold,
// and the last token in any case: its logits are wanted. It counts what it did
// in c's usage.
func (s *Session) advance(ctx context.Context, prompt Prompt, c Choosing) error {
	s.truncate(s.state.Len())
	same := min(commonPrefix(&s.text, &prompt), len(prompt.Tokens)-1)
	if same < s.state.Len() {
		same = s.state.Rewind(same)
	}
	s.truncate(same)
	total := len(prompt.Tokens) - same
	c.Usage.Computed = total
	rest, err := s.piece(ctx, &prompt, same, c.Usage)
	if err != nil {
		return err
	}
	err = s.state.Prefill(ctx, rest, func(done int) {
		if c.Prefill != nil {
			c.Prefill(done, total)
		}
	})
	s.setText(prompt.until(s.state.Len()))
	return err
}

// piece is what comes behind the first positions of a prompt, with the soft
// tokens of its media.
func (s *Session) piece(ctx context.Context, prompt *Prompt, from int, usage *Usage) (engine.Piece, error) {
	whole := engine.Piece{Tokens: prompt.Tokens}
	for i := range prompt.Media {
		m := &prompt.Media[i]
		if m.end() <= from {
			continue
		}
		vectors, err := s.softTokens(ctx, m, usage)
		if err != nil {
			return engine.Piece{}, err
		}
		whole.Soft = append(whole.Soft, engine.SoftRun{
			First: m.First, Vectors: vectors, Count: m.Count,
			Mutual: s.model.seenAtOnce(*m),
		})
	}
	return whole.Slice(from, len(prompt.Tokens)), nil
}

// softTokens are a medium's vectors: those that the session keeps, or new ones.
func (s *Session) softTokens(ctx context.Context, m *Medium, usage *Usage) ([]float32, error) {
	want := m.Count * s.model.arch.Config.EmbeddingLength
	if kept := s.soft.get(m.Key); len(kept) == want {
		return kept, nil
	}
	if m.SoftTokens == nil {
		return nil, fmt.Errorf("%w: a medium without soft tokens at position %d", ErrUnsupported, m.First)
	}
	begun := time.Now()
	vectors, err := m.SoftTokens(ctx)
	if err != nil {
		return nil, err
	}
	usage.Media++
	usage.MediaTime += time.Since(begun)
	if len(vectors) != want {
		return nil, fmt.Errorf("%w: the medium at position %d has %d values for %d soft tokens of %d", ErrUnsupported,
			m.First, len(vectors), m.Count, s.model.arch.Config.EmbeddingLength)
	}
	s.soft.put(m.Key, vectors)
	return vectors, nil
}
