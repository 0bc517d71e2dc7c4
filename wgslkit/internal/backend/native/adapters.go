//go:build !js

package native

import (
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/wgslkit/adapter"
	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// BestAdapter is the one that opts asks for, or the fastest; the others are released.
func BestAdapter[A any](adapters []A, info func(A) adapter.Info, release func(A),
	opts backend.Options) (best A, err error) {
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
		return best, fmt.Errorf("%w: no Vulkan, Metal or DX12 driver was found; install one (on Debian: "+
			"mesa-vulkan-drivers) or run on the CPU", backend.ErrNoDevice)
	}
	return best, fmt.Errorf("%w: no adapter matches %q; there are: %s", backend.ErrNoDevice, opts.Adapter,
		strings.Join(names, ", "))
}

// adapterRank orders adapters by how fast they are likely to be; -1 refuses.
func adapterRank(info adapter.Info, opts backend.Options) int {
	if opts.Adapter != "" && !strings.Contains(strings.ToLower(info.Name), strings.ToLower(opts.Adapter)) {
		return -1
	}
	switch {
	case info.Backend == "OpenGL" || info.Backend == "OpenGLES":
		return -1 // its compute is too limited to rely on
	case info.Kind == adapter.DiscreteGPU && opts.LowPower:
		return 2
	case info.Kind == adapter.IntegratedGPU && opts.LowPower:
		return 3
	case info.Kind == adapter.DiscreteGPU:
		return 3
	case info.Kind == adapter.IntegratedGPU:
		return 2
	case info.Kind == adapter.CPU:
		return 0
	}
	return 1
}

// ClampInt64 is v, or 2⁶² where v means no limit.
func ClampInt64(v uint64) int64 { return int64(min(v, 1<<62)) }

// LibraryName names a wgpu-native by its version, a byte for each part; one that was
// built from no release has none.
func LibraryName(version uint32, where string) string {
	if version == 0 {
		return fmt.Sprintf("wgpu-native (%s)", where)
	}
	return fmt.Sprintf("wgpu-native %d.%d.%d.%d (%s)", version>>24, version>>16&255, version>>8&255, version&255, where)
}
