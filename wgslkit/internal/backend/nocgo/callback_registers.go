//go:build ((darwin || linux) && (amd64 || arm64)) || (windows && arm64)

package nocgo

import "github.com/ebitengine/purego"

// A text passed by value comes in two registers here.

// newCallback is the C function that calls handle.
func newCallback(handle func(first, second uintptr, message string, user uintptr)) uintptr {
	return purego.NewCallback(func(first, second, data, length, user, _ uintptr) uintptr {
		handle(first, second, goText(data, length), user)
		return 0
	})
}

// newShortCallback is one without a second value.
func newShortCallback(handle func(status, user uintptr)) uintptr {
	return purego.NewCallback(func(status, _, _, user, _ uintptr) uintptr {
		handle(status, user)
		return 0
	})
}
