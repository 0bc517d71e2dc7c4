package gemma4

import (
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
)

// What a caller can act on. Errors of this package wrap one of these, of
// wgslkit's or of gguf's, or the cause of a cancelled context.
var (
	// ErrContextFull: the prompt does not fit into the session's context with at least
	// one token of an answer. Nothing was computed.
	ErrContextFull = errors.New("the context is full")
	// ErrUnsupported: the file holds something that this version cannot compute.
	ErrUnsupported = engine.ErrUnsupported
	// ErrDoesNotFit: the model is larger than the memory it may use.
	ErrDoesNotFit = engine.ErrDoesNotFit
	// ErrBusy: a session answers one prompt at a time, and adapters change between
	// answers.
	ErrBusy = errors.New("an answer is under way")
	// ErrClosed: a model or session was used after its Close.
	ErrClosed = errors.New("used after close")
	// ErrAdapter: an adapter is named that is not loaded, or loaded twice, or in use.
	ErrAdapter = errors.New("adapter")
	// ErrSavedSession: bytes that are no saved session, or one of another model.
	ErrSavedSession = engine.ErrSavedSession
)

// ContextFullError says what does not fit into a session's context, in tokens. It wraps
// ErrContextFull.
type ContextFullError struct {
	Prompt  int // tokens of the prompt
	Context int // what the session holds
	Most    int // what the model was made for
}

// Error implements error.
func (e *ContextFullError) Error() string {
	text := fmt.Sprintf("%v: a prompt of %d tokens in a session of %d; shorten it", ErrContextFull, e.Prompt, e.Context)
	if e.Most > e.Context {
		text += fmt.Sprintf(", or open a larger context (the model takes %d)", e.Most)
	}
	return text
}

// Unwrap returns ErrContextFull.
func (e *ContextFullError) Unwrap() error { return ErrContextFull }
