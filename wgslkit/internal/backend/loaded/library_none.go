//go:build !js && !darwin && !freebsd && !linux

package loaded

import (
	"errors"
	"runtime"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

func Find() string { return "" }

func Open(string, backend.Options) (backend.Backend, error) {
	return nil, errors.New("on " + runtime.GOOS + " no library is loaded")
}
