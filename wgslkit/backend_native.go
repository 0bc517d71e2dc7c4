//go:build !js

package wgslkit

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// openBackend opens the adapter that opts asks for, with all the limits it has:
// with a wgpu-native or a Dawn that the user has, where there is one and it is worth while,
// and else with the one that is linked in. Why a library that there is was not
// taken stands in the Info.
func openBackend(opts Options) (backend, error) {
	quietWayland()
	path, asked := opts.Library, opts.Library != ""
	switch {
	case path == LibraryOff:
		return openPinned(opts, "")
	case !asked:
		if path = findLibrary(); path == "" {
			return openPinned(opts, "")
		}
	}
	b, err := openLoaded(path, opts)
	if err != nil {
		return openPinned(opts, libraryFailure(path, err))
	}
	if info, _, _ := b.describe(); !asked && info.Kind == CPU {
		b.close()
		return openPinned(opts, path+": on a software rasterizer the built-in one is as fast")
	}
	return b, nil
}

// libraryFailure says in a line why the library at path was not used.
func libraryFailure(path string, err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if strings.Contains(text, path) {
		return text
	}
	return path + ": " + text
}

// quietWayland keeps the Vulkan loader of a machine without a desktop from
// complaining on stderr about a variable that only windows need.
func quietWayland() {
	if runtime.GOOS == "linux" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		os.Setenv("XDG_RUNTIME_DIR", os.TempDir())
	}
}

// bestAdapter is the one that opts asks for, or the fastest; the others are released.
func bestAdapter[A any](adapters []A, info func(A) Info, release func(A), opts Options) (best A, err error) {
	var names []string
	bestRank := -1
	for _, a := range adapters {
		about := info(a)
		names = append(names, about.Name)
		rank := adapterRank(about, opts)
		if rank <= bestRank {
			release(a)
			continue
		}
		if bestRank >= 0 {
			release(best)
		}
		best, bestRank = a, rank
	}
	switch {
	case bestRank >= 0:
		return best, nil
	case len(names) == 0:
		return best, fmt.Errorf("%w: no Vulkan, Metal or DX12 driver was found; install one (on Debian: mesa-vulkan-drivers) or run on the CPU", ErrNoDevice)
	}
	return best, fmt.Errorf("%w: no adapter matches %q; there are: %s", ErrNoDevice, opts.Adapter, strings.Join(names, ", "))
}

// adapterRank orders adapters by how fast they are likely to be; -1 refuses.
func adapterRank(info Info, opts Options) int {
	if opts.Adapter != "" && !strings.Contains(strings.ToLower(info.Name), strings.ToLower(opts.Adapter)) {
		return -1
	}
	switch {
	case info.Backend == "OpenGL" || info.Backend == "OpenGLES":
		return -1 // its compute is too limited to rely on
	case info.Kind == DiscreteGPU && opts.Power == LowPower:
		return 2
	case info.Kind == IntegratedGPU && opts.Power == LowPower:
		return 3
	case info.Kind == DiscreteGPU:
		return 3
	case info.Kind == IntegratedGPU:
		return 2
	case info.Kind == CPU:
		return 0
	}
	return 1
}

func clampInt64(v uint64) int64 { return int64(min(v, 1<<62)) }

// libraryName names a wgpu-native by its version, a byte for each part; one that was
// built from no release has none.
func libraryName(version uint32, where string) string {
	if version == 0 {
		return fmt.Sprintf("wgpu-native (%s)", where)
	}
	return fmt.Sprintf("wgpu-native %d.%d.%d.%d (%s)", version>>24, version>>16&255, version>>8&255, version&255, where)
}
