//go:build !js && (!(darwin || linux || windows) || !(amd64 || arm64))

package nocgo

import (
	"errors"
	"runtime"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// Loads says whether libraries are loaded on this system.
const Loads = false

// Open refuses: here, purego loads libraries only for programs with cgo.
func Open(string, backend.Options) (backend.Backend, error) {
	return nil, errors.New("on " + runtime.GOOS + "/" + runtime.GOARCH + " a program built without cgo loads no library")
}
