package engine

import "errors"

// Errors that engines return; package gemma4 gives them to its callers under the
// same names.
var (
	ErrUnsupported  = errors.New("not supported")
	ErrDoesNotFit   = errors.New("the model does not fit")
	ErrSavedSession = errors.New("unusable saved session")
)
