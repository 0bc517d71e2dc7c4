//go:build darwin || freebsd || linux

package ops_test

import (
	"strings"
	"testing"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/internal/librarytest"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// TestLoadedLibrary runs on a wgpu-native that is loaded what its WGSL compiler
// may make something else of. gemwire doctor runs every case on a user's GPU.
func TestLoadedLibrary(t *testing.T) {
	onlyInAll(t)
	_, library := librarytest.Library(t)
	runOnLibrary(t, library, func(*wgslkit.Device) bool { return true })
}

// TestDawn does the same on Dawn. Chromium's rasterizer compiles what uses subgroups
// for minutes.
func TestDawn(t *testing.T) {
	onlyInAll(t)
	if librarytest.Dawn(t, "^TestDawn$") {
		runOnLibrary(t, "", func(d *wgslkit.Device) bool { return d.Info().Kind != wgslkit.CPU })
	}
}

// runOnLibrary runs a case of every op, those that count on zeroed workgroup memory,
// and kernels that use float16 and subgroups, which the library that is linked in lacks.
func runOnLibrary(t *testing.T, library string, subgroups func(*wgslkit.Device) bool) {
	kit := openKit(t, wgslkit.Options{Library: library})
	if refused := kit.Device().Info().LibraryRefused; refused != "" {
		librarytest.Refused(t, refused)
	}
	t.Run("of every op", func(t *testing.T) {
		seen := map[string]bool{}
		runCases(t, kit, func(c opstest.Case) bool {
			first := !seen[c.Op]
			seen[c.Op] = true
			return first
		})
	})
	t.Run("zeroed memory", func(t *testing.T) {
		runCases(t, kit, func(c opstest.Case) bool { return c.Op == "Sample" })
		staging := ops.NewTuned(kit.Device(), ops.TuningFor(wgslkit.DiscreteGPU, kit.Device().Features()))
		runCases(t, staging, func(c opstest.Case) bool {
			return c.Op == "Linear" && strings.HasSuffix(c.Name, "x768_1of1_add_norm_weighted")
		})
	})
	t.Run("float16", func(t *testing.T) {
		runHalfTiles(t, kit, func(c opstest.Case) bool {
			return strings.HasPrefix(c.Name, "Q4_K") && !strings.Contains(c.Name, "ranks") ||
				strings.Contains(c.Name, "x1040_140of140_gated")
		})
	})
	t.Run("subgroups", func(t *testing.T) {
		if !subgroups(kit.Device()) {
			t.Skip("this adapter compiles them slowly")
		}
		if !kit.Device().Features().Subgroups {
			t.Skip("this adapter has no subgroups")
		}
		using := map[string]bool{"RMSNorm": true, "StoreKV": true, "Attention": true, "RMSNormBack": true}
		tuning := ops.TuningFor(wgslkit.CPU, kit.Device().Features()).ForSlowCompiler()
		runCases(t, ops.NewTuned(kit.Device(), tuning), func(c opstest.Case) bool { return using[c.Op] })
	})
}
