package backend

import "errors"

// The errors of wgslkit that backends raise; wgslkit says what each means.
var (
	ErrNoDevice    = errors.New("no usable GPU")
	ErrOutOfMemory = errors.New("out of GPU memory")
	ErrDeviceLost  = errors.New("the GPU device was lost")
	ErrValidation  = errors.New("the GPU refused a call")
	ErrLimit       = errors.New("over a limit of this GPU")
	ErrShader      = errors.New("shader error")
)
