package tokenizer

import "errors"

var (
	// ErrModel is returned for a kind of tokenizer that Gemma does not use.
	ErrModel = errors.New("tokenizer: unsupported model")
	// ErrVocabulary is returned for a vocabulary that contradicts itself.
	ErrVocabulary = errors.New("tokenizer: bad vocabulary")
	// ErrToken is returned for an id outside the vocabulary.
	ErrToken = errors.New("tokenizer: no such token")
)
