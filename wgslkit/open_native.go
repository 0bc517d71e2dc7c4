//go:build !js && cgo

package wgslkit

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/loaded"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/pinned"
)

// openBackend opens the adapter that opts asks for, with all the limits it has:
// with a wgpu-native or a Dawn that the user has, where there is one and it is worth while,
// and else with the one that is linked in. Why a library that there is was not
// taken stands in the Info.
func openBackend(opts backend.Options) (backend.Backend, error) {
	quietWayland()
	path, asked := opts.Library, opts.Library != ""
	switch {
	case path == LibraryOff:
		return pinned.Open(opts, "")
	case !asked:
		if path = loaded.Find(); path == "" {
			return pinned.Open(opts, "")
		}
	}
	b, err := loaded.Open(path, opts)
	if err != nil {
		refused := libraryFailure(path, err)
		b, err := pinned.Open(opts, refused)
		if err != nil && asked {
			return nil, fmt.Errorf("%w; the library that was asked for cannot be used: %s", err, refused)
		}
		return b, err
	}
	if info, _, _ := b.Describe(); !asked && info.Kind == CPU {
		b.Close()
		return pinned.Open(opts, path+": on a software rasterizer the built-in one is as fast")
	}
	return b, nil
}
