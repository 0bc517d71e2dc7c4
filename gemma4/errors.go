package gemma4

import (
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
)

// What a caller can act on. Errors of this package wrap one of these, of
// wgslkit's or of gguf's, or the cause of a cancelled context.
var (
	// ErrContextFull: the prompt and the answer asked for do not fit into the
	// session's context. Nothing was computed.
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
	Answer  int // tokens of the answer that was asked for, 1 where nothing was said
	Context int // what the session holds
	Most    int // what the model was made for
}

// Error implements error.
func (e *ContextFullError) Error() string {
	return fmt.Sprintf("%v: a prompt of %d tokens and an answer of %d in a session of %d; shorten the "+
		"conversation, ask for fewer tokens, or open a larger context (the model takes %d)",
		ErrContextFull, e.Prompt, e.Answer, e.Context, e.Most)
}

// Unwrap returns ErrContextFull.
func (e *ContextFullError) Unwrap() error { return ErrContextFull }
