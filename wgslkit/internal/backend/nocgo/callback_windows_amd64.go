package nocgo

import "github.com/ebitengine/purego"

// A text passed by value comes as a pointer to it here.

// newCallback is the C function that calls handle.
func newCallback(handle func(first, second uintptr, message string, user uintptr)) uintptr {
	return purego.NewCallback(func(first, second uintptr, message *cText, user, _ uintptr) uintptr {
		handle(first, second, goText(message.data, message.length), user)
		return 0
	})
}

// newShortCallback is one without a second value.
func newShortCallback(handle func(status, user uintptr)) uintptr {
	return purego.NewCallback(func(status uintptr, _ *cText, user, _ uintptr) uintptr {
		handle(status, user)
		return 0
	})
}
