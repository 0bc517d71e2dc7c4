package grammar

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrSyntax is returned for a form that is not well formed.
	ErrSyntax = errors.New("grammar: cannot be read")
	// ErrChoice is returned for a call that is required of a function that is not declared.
	ErrChoice = errors.New("grammar: impossible tool choice")
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

// placedOf adds to an error that begins with a sentinel's text the place in the schema where it is.
func placedOf(sentinel, err error, place string) error {
	if !errors.Is(err, sentinel) {
		return fmt.Errorf("at %s: %w", place, err)
	}
	return fmt.Errorf("%w: at %s%s", sentinel, place, strings.TrimPrefix(err.Error(), sentinel.Error()))
}

// placed adds to an error of a limit the place in the schema where it was reached.
func placed(err error, place string) error {
	if !errors.Is(err, ErrTooComplex) {
		return err
	}
	return placedOf(ErrTooComplex, err, place)
}
