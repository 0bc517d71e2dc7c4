package pool

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/wgslkit"
)

// take is a session that nobody else uses, with room for so many tokens.
func (p *Pool) take(tokens []int32, context int) (*gemma4.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, goesOn := p.best(tokens, context)
	if goesOn {
		return p.pick(at), nil
	}
	if p.open < p.most {
		s, err := p.model.NewSession(p.size(context))
		if err == nil {
			p.open++
			return s, nil
		}
		if len(p.idle) == 0 || !errors.Is(err, gemma4.ErrDoesNotFit) && !errors.Is(err, wgslkit.ErrOutOfMemory) {
			return nil, err
		}
	}
	if at >= 0 {
		return p.pick(at), nil
	}
	if len(p.idle) == 0 {
		return nil, fmt.Errorf("%w: all %d sessions answer", gemma4.ErrBusy, p.open)
	}
	old := p.pick(0) // all are too small
	p.open--
	if err := old.Close(); err != nil {
		return nil, err
	}
	s, err := p.model.NewSession(p.size(context))
	if err == nil {
		p.open++
	}
	return s, err
}

// size is a session's: never less than the model was opened with, so that it serves the next request, too.
func (p *Pool) size(context int) int {
	info := p.model.Info()
	return min(max(context, info.Context), info.MaxContext)
}

// lostPart is how much of a kept text may be given up for another: a thought that is left out of the next prompt, an
// answer that is asked for again.
const lostPart = 4

// best is the idle session that holds the most of a text, and whether the text goes on with what it holds. Where none
// does, it is the one that was not used for longest; −1 where none is large enough.
func (p *Pool) best(tokens []int32, context int) (at int, goesOn bool) {
	at = -1
	longest, size := -1, p.size(context)
	for i, s := range p.idle {
		if s.Context() < size {
			continue
		}
		held := s.Tokens()
		same := 0
		for same < len(held) && same < len(tokens) && held[same] == tokens[same] {
			same++
		}
		if on := len(held)-same <= len(held)/lostPart; on && same > longest {
			longest, at, goesOn = same, i, true
		} else if !goesOn && at < 0 {
			at = i
		}
	}
	return at, goesOn
}

// pick takes an idle session.
func (p *Pool) pick(at int) *gemma4.Session {
	s := p.idle[at]
	p.idle = slices.Delete(p.idle, at, at+1)
	return s
}

// give brings a session back, as the one that was used last.
func (p *Pool) give(s *gemma4.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, s)
	p.changed.Broadcast()
}
