package gemma4

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// Session is one text and what has been computed of it. It answers one prompt
// at a time; a prompt that begins like the text before is only computed from
// where it differs.
type Session struct {
	model   *Model
	state   state
	context int
	// text is what was prompted and answered: its first state.length() positions
	// are in the caches.
	text   Prompt
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
		return nil, fmt.Errorf("%w: a session of %d tokens; this model takes 1 to %d", ErrUnsupported, n, m.arch.Config.ContextLength)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("%w: model", ErrClosed)
	}
	m.adapters.using.RLock()
	defer m.adapters.using.RUnlock()
	st, err := m.engine.newState(n)
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

// Len is how many tokens of the text are computed and cached.
func (s *Session) Len() int { return s.state.length() }

// Tokens is the text of the session: what was prompted and answered last, with
// placeholders where soft tokens stand.
func (s *Session) Tokens() []int32 { return append([]int32(nil), s.text.Tokens...) }

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
	s.text = Prompt{}
	s.state.rewind(0)
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
	if err := s.room(len(prompt.Tokens), 0); err != nil {
		return err
	}
	s.clear()
	all, err := s.piece(ctx, &prompt, 0, &Usage{})
	if err != nil {
		return err
	}
	err = s.state.allLogits(ctx, all, each)
	s.text = prompt.until(s.state.length())
	return err
}

// room refuses, before any work, what does not fit.
func (s *Session) room(prompt, answer int) error {
	if prompt+answer > s.context {
		return fmt.Errorf("%w: a prompt of %d tokens and an answer of %d in a session of %d; shorten the conversation, ask for fewer tokens, or open a larger context (the model takes %d)",
			ErrContextFull, prompt, answer, s.context, s.model.arch.Config.ContextLength)
	}
	return nil
}

// advance brings the caches to prompt, computing only what they do not hold,
// and the last token in any case: its logits are wanted. It counts what it did
// in c's usage.
func (s *Session) advance(ctx context.Context, prompt Prompt, c Choosing) error {
	s.text.truncate(s.state.length())
	same := min(commonPrefix(&s.text, &prompt), len(prompt.Tokens)-1)
	if same < s.state.length() {
		same = s.state.rewind(same)
	}
	s.text.truncate(same)
	total := len(prompt.Tokens) - same
	c.Usage.Computed = total
	rest, err := s.piece(ctx, &prompt, same, c.Usage)
	if err != nil {
		return err
	}
	err = s.state.prefill(ctx, rest, func(done int) {
		if c.Prefill != nil {
			c.Prefill(done, total)
		}
	})
	s.text = prompt.until(s.state.length())
	return err
}

// piece is what comes behind the first positions of a prompt, with the soft
// tokens of its media.
func (s *Session) piece(ctx context.Context, prompt *Prompt, from int, usage *Usage) (piece, error) {
	whole := piece{tokens: prompt.Tokens}
	for i := range prompt.Media {
		m := &prompt.Media[i]
		if m.end() <= from {
			continue
		}
		vectors, err := s.softTokens(ctx, m, usage)
		if err != nil {
			return piece{}, err
		}
		whole.soft = append(whole.soft, softRun{
			first: m.First, vectors: vectors, count: m.Count,
			mutual: m.Kind == chat.Image && s.model.arch.Config.BidirectionalImages(),
		})
	}
	return whole.slice(from, len(prompt.Tokens)), nil
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
		return nil, fmt.Errorf("%w: the medium at position %d has %d values for %d soft tokens of %d", ErrUnsupported, m.First, len(vectors), m.Count, s.model.arch.Config.EmbeddingLength)
	}
	s.soft.put(m.Key, vectors)
	return vectors, nil
}
