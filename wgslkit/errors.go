package wgslkit

import "errors"

// What a caller can act on. Every error of this package wraps one of these,
// and says which device, allocation or kernel it is about.
var (
	// ErrNoDevice: no adapter, or none that computes.
	ErrNoDevice = errors.New("no usable GPU")
	// ErrOutOfMemory: the device, or the budget set for it, has no room.
	ErrOutOfMemory = errors.New("out of GPU memory")
	// ErrDeviceLost: the device went away; everything on it is gone.
	ErrDeviceLost = errors.New("the GPU device was lost")
	// ErrValidation: a call was refused as malformed, which is a fault of the program.
	ErrValidation = errors.New("the GPU refused a call")
	// ErrLimit: something is larger than this device's limits allow.
	ErrLimit = errors.New("over a limit of this GPU")
	// ErrShader: a WGSL file could not be composed or compiled.
	ErrShader = errors.New("shader error")
	// ErrBrokenKernel: the kernel is known to compute wrongly on this device.
	ErrBrokenKernel = errors.New("this GPU's driver computes a kernel wrongly")
	// ErrReleased: a buffer, program or device was used after its release.
	ErrReleased = errors.New("used after release")
)
