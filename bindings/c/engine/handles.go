package engine

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gemwire/gemwire/gemma4"
)

// Handle names an open model or session. No number is given twice, so that one
// that was closed is never taken for another. 0 names nothing.
type Handle uint64

// ErrHandle says that a number names nothing that is open, or something else
// than was meant.
var ErrHandle = errors.New("no such handle")

// Engine holds what is open. The zero value is ready.
type Engine struct {
	mu   sync.Mutex
	last Handle
	open map[Handle]named

	logging logging
}

// named is a model or a session.
type named interface {
	failures() *failures
	// cancel ends the answers under way.
	cancel(cause error)
	// shut makes it unreachable, and releases it once nobody is in a call of it.
	shut() error
}

// add gives a number to v.
func (e *Engine) add(v named) Handle {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		e.open = map[Handle]named{}
	}
	e.last++
	e.open[e.last] = v
	return e.last
}

func (e *Engine) find(h Handle) (named, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.open[h]
	return v, ok
}

// take removes h and, where it is a model, its sessions.
func (e *Engine) take(h Handle) (all []named) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.open[h]
	if !ok {
		return nil
	}
	if m, ok := v.(*model); ok {
		for n, other := range e.open {
			if s, ok := other.(*session); ok && s.model == m {
				all = append(all, s)
				delete(e.open, n)
			}
		}
	}
	delete(e.open, h)
	return append(all, v)
}

// Open is how many models and sessions are open.
func (e *Engine) Open() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.open)
}

// Close closes a model with its sessions, or a session. Answers under way are
// cancelled; what they use is released when the last of them has returned, so
// that an answer's own callback may close what it is called by.
func (e *Engine) Close(h Handle) error {
	all := e.take(h)
	if all == nil {
		return fmt.Errorf("%w: %d was closed, or never open", ErrHandle, h)
	}
	var errs []error
	for _, v := range all {
		errs = append(errs, v.shut())
	}
	for _, v := range all {
		v.cancel(errClosing)
	}
	return errors.Join(errs...)
}

// Cancel ends the answer of a session that is under way, or all of a model's.
// Where there is none, nothing happens.
func (e *Engine) Cancel(h Handle) error {
	v, ok := e.find(h)
	if !ok {
		return fmt.Errorf("%w: %d was closed, or never open", ErrHandle, h)
	}
	v.cancel(errCancelled)
	return nil
}

// enter finds a model or session and keeps it from being released until leave
// is called.
func enter[T interface {
	named
	use() bool
	leave()
}](e *Engine, h Handle, kind string) (T, error) {
	var none T
	v, ok := e.find(h)
	if !ok {
		return none, fmt.Errorf("%w: %d is no open %s", ErrHandle, h, kind)
	}
	t, ok := v.(T)
	if !ok {
		return none, fmt.Errorf("%w: %d is no %s, but another kind of handle", ErrHandle, h, kind)
	}
	if !t.use() {
		return none, fmt.Errorf("%w: %d is no open %s", ErrHandle, h, kind)
	}
	return t, nil
}

// lifetime counts who uses something that is to be released when nobody does
// any more.
type lifetime struct {
	mu      sync.Mutex
	users   int
	closing bool
	release func() error
}

// use is false once closing has begun.
func (l *lifetime) use() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.users++
	return true
}

// shutting says whether closing has begun.
func (l *lifetime) shutting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

// leave ends a use. An error of a release that waited for it has nobody left to
// hear it: the close that it belongs to has returned.
func (l *lifetime) leave() {
	l.mu.Lock()
	l.users--
	last := l.closing && l.users == 0
	l.mu.Unlock()
	if last {
		_ = l.release()
	}
}

// shut releases at once where nobody is there.
func (l *lifetime) shut() error {
	l.mu.Lock()
	first := !l.closing
	l.closing = true
	last := first && l.users == 0
	l.mu.Unlock()
	if last {
		return l.release()
	}
	return nil
}

// errClosing and errCancelled are the causes of an answer's end from outside.
var (
	errCancelled = errors.New("the answer was cancelled")
	errClosing   = fmt.Errorf("%w: closed while it answered", gemma4.ErrClosed)
)
