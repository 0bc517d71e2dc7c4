//go:build !js

package eventloop

// Yield does nothing: others have threads of their own.
func Yield() {}
