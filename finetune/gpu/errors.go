package gpu

import "errors"

// ErrUnsupported says that a model or a batch cannot be trained on this GPU.
var ErrUnsupported = errors.New("not trained on this GPU")
