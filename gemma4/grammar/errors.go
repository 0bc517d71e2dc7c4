package grammar

import "errors"

var (
	// ErrSyntax is returned for a form that is not well formed.
	ErrSyntax = errors.New("grammar: cannot be read")
	// ErrUnsupported is returned for a keyword or construct that cannot be honoured; the error names it and its place.
	ErrUnsupported = errors.New("grammar: not supported")
	// ErrUnsatisfiable is returned for a form that no text fits.
	ErrUnsatisfiable = errors.New("grammar: no text can fit")
	// ErrTooComplex is returned where a form needs more time or memory than the limits allow.
	ErrTooComplex = errors.New("grammar: too complex")
	// ErrToken is returned for a token that the form does not allow at this place.
	ErrToken = errors.New("grammar: token not allowed")
	// ErrVocabulary is returned for a vocabulary that cannot be worked with.
	ErrVocabulary = errors.New("grammar: bad vocabulary")
)
