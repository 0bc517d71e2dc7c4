package adapter

import "errors"

// ErrTarget says that a linear is named that the model does not have.
var ErrTarget = errors.New("no such linear to adapt")
