package gemma4

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// AttachAssistant gives the model an assistant: a small model made for it, such as
// gemma-4-E2B-it-assistant, that guesses its next tokens from what it has computed.
// Answers stay what they are and come quicker where the guesses are good: several
// tokens are then computed in one pass over the weights; see Choosing.Drafts.
//
// It is attached before the first session is made, and file is closed with the
// model, or at once on an error: one that wraps arch.ErrAssistant where the file
// holds no assistant or one of another model, ErrBusy where there are sessions, or
// what Open's do. Of opts, only Progress counts.
func (m *Model) AttachAssistant(ctx context.Context, file *gguf.File, opts OpenOptions) error {
	if err := m.attach(ctx, file, opts); err != nil {
		return errors.Join(fmt.Errorf("attaching an assistant: %w", err), file.Close())
	}
	return nil
}

func (m *Model) attach(ctx context.Context, file *gguf.File, opts OpenOptions) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return fmt.Errorf("%w: model", ErrClosed)
	case m.sessions > 0:
		return fmt.Errorf("%w: %d sessions are open; attach it before they are made", ErrBusy, m.sessions)
	case m.assistant != nil:
		return fmt.Errorf("%w: the model has one already", arch.ErrAssistant)
	}
	a, err := arch.OpenAssistant(file, m.arch)
	if err != nil {
		return err
	}
	if err := m.engine.attach(ctx, a, opts); err != nil {
		return err
	}
	m.assistant = file
	m.engine.describe(&m.info)
	if m.info.Assistant, _ = file.Meta.String("general.name"); m.info.Assistant == "" {
		m.info.Assistant = file.Architecture()
	}
	return nil
}

// assistedDraft is how many tokens an assistant guesses at first. Its guesses get
// worse with each, and a wrong one has cost its part of the pass.
const assistedDraft = 4

// assistedMisses is after how many drafts in a row of which nothing was right the
// assistant is left alone for a while.
const assistedMisses = 4

// pace says how many tokens an assistant guesses: more where all of the last were
// right, fewer where they were not, none for a while where it goes on being wrong.
type pace struct {
	longest int
	next    int
	misses  int // drafts in a row of which nothing was right
	wait    int // tokens to come before the next draft
}

func newPace(longest int) *pace { return &pace{longest: longest, next: min(assistedDraft, longest)} }

// tokens is how many to guess, of most at most.
func (p *pace) tokens(most int) int {
	if p == nil || p.wait > 0 {
		return 0
	}
	return min(p.next, most)
}

// push hears that a token came.
func (p *pace) push() {
	if p != nil && p.wait > 0 {
		p.wait--
	}
}

// learn hears how many tokens of a draft were right.
func (p *pace) learn(drafted, right int) {
	switch {
	case right == drafted:
		p.next = min(p.next+2, p.longest)
	default:
		p.next = max(p.next-1, 1)
	}
	if right > 0 {
		p.misses = 0
		return
	}
	if p.misses++; p.misses >= assistedMisses {
		p.wait = p.longest * min(1<<(p.misses-assistedMisses), maxDraftWait)
	}
}

// speculation chooses who guesses: the text itself where a long run of it was there
// before, which costs nothing, else the assistant where there is one.
type speculation struct {
	*drafter       // nil where nothing is drafted
	pace     *pace // nil without an assistant
}

// plan is a draft from the text, or how many tokens the assistant should guess; most
// is the most there may be.
func (s *speculation) plan(most int) (draft []int32, assisted int) {
	draft = s.draft(most)
	if s.pace == nil || len(draft) > 0 && s.same(s.match, len(s.tokens)) >= 2*draftKey {
		return draft, 0
	}
	if n := s.pace.tokens(most); n > 0 {
		return nil, n
	}
	return draft, 0
}

func (s *speculation) push(token int32) {
	s.drafter.push(token)
	s.pace.push()
}

// heard is how many tokens of a draft were right, and whose it was.
func (s *speculation) heard(drafted, right int, assisted bool) {
	if !assisted {
		s.learn(drafted, right)
		return
	}
	s.usage.Drafted += drafted
	s.usage.DraftsRight += right
	s.usage.Assisted += drafted
	s.usage.AssistedRight += right
	s.pace.learn(drafted, right)
}
