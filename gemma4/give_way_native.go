//go:build !js

package gemma4

// giveWay does nothing: others have threads of their own.
func giveWay() {}
