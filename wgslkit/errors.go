package wgslkit

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// What a caller can act on. Every error of this package wraps one of these,
// and says which device, allocation or kernel it is about.
var (
	// ErrNoDevice: no adapter, or none that computes.
	ErrNoDevice = backend.ErrNoDevice
	// ErrOutOfMemory: the device, or the budget set for it, has no room.
	ErrOutOfMemory = backend.ErrOutOfMemory
	// ErrDeviceLost: the device went away; everything on it is gone.
	ErrDeviceLost = backend.ErrDeviceLost
	// ErrValidation: a call was refused as malformed, which is a fault of the program.
	ErrValidation = backend.ErrValidation
	// ErrLimit: something is larger than this device's limits allow.
	ErrLimit = backend.ErrLimit
	// ErrShader: a WGSL file could not be composed or compiled.
	ErrShader = backend.ErrShader
	// ErrBrokenKernel: the kernel is known to compute wrongly on this device.
	ErrBrokenKernel = errors.New("this GPU's driver computes a kernel wrongly")
	// ErrReleased: a buffer, program or device was used after its release.
	ErrReleased = errors.New("used after release")
)
