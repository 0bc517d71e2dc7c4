//go:build !linux

package doctor

// drivers are part of the system here, and adapters tell their own.
func drivers() string { return "" }

func installed() string { return "" }
