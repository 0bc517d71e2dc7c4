package adapter

import "errors"

var (
	// ErrTarget says that a linear is named that the model does not have, or
	// whose sizes are others.
	ErrTarget = errors.New("no such linear to adapt")
	// ErrFormat says that a file is no LoRA adapter, or one of a kind that
	// cannot be computed here.
	ErrFormat = errors.New("unusable adapter")
)
