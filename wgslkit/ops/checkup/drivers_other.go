//go:build !linux

package checkup

// Drivers are part of the system here, and adapters tell their own.
func Drivers() string { return "" }

func installed() string { return "" }
