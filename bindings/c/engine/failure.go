package engine

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/gemwire/gemwire/multimodal/fault"
)

// ErrArgument says that a caller gave something that makes no sense.
var ErrArgument = errors.New("bad argument")

// errCallback says that a callback asked for the end.
var errCallback = errors.New("the callback ended it")

// Failure is an error as a C program hears of it.
type Failure struct {
	Kind    fault.Kind
	Message string // one line
}

// Handles that name nothing have a kind of their own, beside those of fault.
const (
	OK        fault.Kind = ""
	BadHandle fault.Kind = "bad-handle"
)

// FailureOf is what a caller hears of an error; of nil, nothing.
func FailureOf(err error) Failure {
	if err == nil {
		return Failure{}
	}
	return Failure{Kind: kindOf(err), Message: strings.Join(strings.Fields(err.Error()), " ")}
}

func kindOf(err error) fault.Kind {
	var address *url.Error
	var connection *net.OpError
	switch {
	case errors.Is(err, ErrHandle):
		return BadHandle
	case errors.Is(err, ErrArgument):
		return fault.BadArgument
	case errors.Is(err, errCancelled), errors.Is(err, errCallback), errors.Is(err, context.Canceled):
		return fault.Cancelled
	}
	if kind := fault.KindOf(err); kind != fault.Internal {
		return kind
	}
	if errors.As(err, &address) || errors.As(err, &connection) {
		return fault.Network
	}
	return fault.Internal
}

// failures keep the last one.
type failures struct {
	mu   sync.Mutex
	last Failure
}

func (f *failures) note(failure Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = failure
}

// Note keeps err as the last failure of h. It is false where h names nothing:
// then the caller has to keep it.
func (e *Engine) Note(h Handle, err error) bool {
	v, ok := e.find(h)
	if ok {
		v.failures().note(FailureOf(err))
	}
	return ok
}

// LastFailure is the last failure of h, ok where h is open.
func (e *Engine) LastFailure(h Handle) (last Failure, ok bool) {
	v, ok := e.find(h)
	if !ok {
		return Failure{}, false
	}
	f := v.failures()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, true
}
