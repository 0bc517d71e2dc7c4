package gemma4

import "errors"

// What a caller can act on. Errors of this package wrap one of these, of
// wgslkit's or of gguf's, or the cause of a cancelled context.
var (
	// ErrContextFull: the prompt and the answer asked for do not fit into the
	// session's context. Nothing was computed.
	ErrContextFull = errors.New("the context is full")
	// ErrUnsupported: the file holds something that this version cannot compute.
	ErrUnsupported = errors.New("not supported")
	// ErrBusy: a session answers one prompt at a time, and adapters change between
	// answers.
	ErrBusy = errors.New("an answer is under way")
	// ErrClosed: a model or session was used after its Close.
	ErrClosed = errors.New("used after close")
	// ErrAdapter: an adapter is named that is not loaded, or loaded twice, or in use.
	ErrAdapter = errors.New("adapter")
	// ErrSavedSession: bytes that are no saved session, or one of another model.
	ErrSavedSession = errors.New("unusable saved session")
)
