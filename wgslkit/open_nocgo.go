//go:build !js && !cgo

package wgslkit

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/nocgo"
)

// openBackend opens the adapter that opts asks for, with a wgpu-native or a Dawn that the user has: a program that was
// built without cgo has none linked in.
func openBackend(opts backend.Options) (backend.Backend, error) {
	quietWayland()
	path := opts.Library
	switch {
	case path == LibraryOff:
		return nil, fmt.Errorf("%w: loading a WebGPU library is off, and this program was built without cgo, so it has "+
			"none of its own", ErrNoDevice)
	case path == "":
		if path = native.FindLibrary(); path == "" {
			return nil, fmt.Errorf("%w: %s", ErrNoDevice, noLibrary())
		}
	}
	b, err := nocgo.Open(path, opts)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrNoDevice, libraryFailure(path, err))
	}
	return b, nil
}

// noLibrary says why there is no GPU, and what helps.
func noLibrary() string {
	const why = "this program was built without cgo, so it has no WebGPU library of its own"
	if !nocgo.Loads {
		return why + ", and loads none on this system; build it with cgo for the GPU"
	}
	folders := native.LibraryFolders()
	if len(folders) == 0 {
		return why + "; name one in GEMWIRE_WGPU"
	}
	return fmt.Sprintf("%s; put %s of wgpu-native 29 into %s, or name a library in GEMWIRE_WGPU", why,
		native.LibraryFile("wgpu_native"), folders[len(folders)-1])
}
