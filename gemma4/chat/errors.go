package chat

import "errors"

var (
	// ErrMessage is returned for a message that no template could render.
	ErrMessage = errors.New("chat: bad message")
	// ErrTool is returned for a tool declaration that is no JSON schema.
	ErrTool = errors.New("chat: bad tool")
	// ErrTemplate is returned for a template name that is not known.
	ErrTemplate = errors.New("chat: unknown template")
	// ErrFormat is returned for what the model's chat format has no form for.
	ErrFormat = errors.New("chat: not a part of this model's chat format")
	// ErrVocabulary is returned where a model's vocabulary lacks a token that
	// a conversation needs.
	ErrVocabulary = errors.New("chat: token missing from the vocabulary")
	// ErrCall is returned for the text of a tool call that is malformed.
	ErrCall = errors.New("chat: malformed tool call")
)
