//go:build !js && !darwin && !freebsd && !linux

package wgslkit

import (
	"errors"
	"runtime"
)

func findLibrary() string { return "" }

func openLoaded(string, Options) (backend, error) {
	return nil, errors.New("on " + runtime.GOOS + " no library is loaded")
}
