package parity_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit"
)

func TestConformance(t *testing.T) { testConformance(t, gemma4.CacheF16) }

// With keys and values in 8 bits, the built-in model says the same and logits stay near.
func TestConformanceQ8(t *testing.T) {
	conformance.Long(t)
	testConformance(t, gemma4.CacheQ8)
}

// onGPUInQ8 are those cases that the GPU runs with keys and values in 8 bits: the
// built-in model, the narrowest heads, values without a norm, and loud streams.
var onGPUInQ8 = map[string]bool{"nano": true, "f32": true, "gemma3": true, "loud": true, "louddense": true}

// wantedOnGPU says whether a run wants a case on the GPU, for which a software rasterizer compiles kernels for half a
// minute. make test has one of the E series, one with experts and the trained one, which is all it has in 8 bits.
func wantedOnGPU(name string, cache gemma4.CacheType) bool {
	switch {
	case conformance.All():
		return cache != gemma4.CacheQ8 || onGPUInQ8[name]
	case cache == gemma4.CacheQ8 || testing.Short():
		return name == "nano"
	}
	return name == "nano" || name == "e2b" || name == "moe"
}

// turnsOver is a case whose routers weigh experts so alike that keys and values in 8 bits choose others: what
// then comes of the second prompt says nothing of the cache. The file's own types are held to the reference without it.
const turnsOver = "lowmoe"

func testConformance(t *testing.T, cache gemma4.CacheType) {
	for _, device := range []gemma4.Device{gemma4.DeviceCPU, gemma4.DeviceGPU} {
		t.Run(string(device), func(t *testing.T) {
			if device == gemma4.DeviceGPU {
				needGPU(t)
			}
			run(t, device, cache)
		})
	}
}

func needGPU(t *testing.T) {
	t.Helper()
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, device gemma4.Device, cache gemma4.CacheType) {
	done := map[string]bool{}
	for _, folder := range conformance.Folders(t) {
		cases, err := parity.Find(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.Kind != parity.ModelCase && (device == gemma4.DeviceGPU || cache == gemma4.CacheQ8) {
				continue // no matter of the device or the cache
			}
			done[c.Name] = true
			if cache == gemma4.CacheQ8 && c.Name == turnsOver {
				continue
			}
			if device == gemma4.DeviceGPU && !wantedOnGPU(c.Name, cache) || testing.Short() && c.Name != "nano" {
				continue
			}
			t.Run(c.Name, func(t *testing.T) { runCase(t, c, device, cache) })
		}
	}
	for _, name := range []string{
		"f32", "e2b", "types", "dense", "moe", "lowbit", "lowmoe", "nano", "gemma3", "gemma3large", "loud", "louddense",
	} {
		if !done[name] {
			t.Errorf("case %s was not found", name)
		}
	}
}

func runCase(t *testing.T, c parity.Case, device gemma4.Device, cache gemma4.CacheType) {
	opts := parity.Options{
		Open:    gemma4.OpenOptions{Device: device, KVCache: cache},
		BuiltIn: func() gguf.Source { return nanoSource(t) },
	}
	checks := 0
	for check, err := range c.Run(context.Background(), opts) {
		if err != nil {
			t.Fatal(err)
		}
		checks++
		if check.Tolerance > 0 {
			t.Logf("%s: %.2g of %.0e", check.What, check.Error, check.Tolerance)
		}
		if !check.Passed {
			t.Errorf("%s: %.3g, allowed %.3g; %s", check.What, check.Error, check.Tolerance, check.Detail)
		}
	}
	if checks == 0 {
		t.Error("nothing was checked")
	}
}

func nanoSource(t *testing.T) gguf.Source {
	source, err := gguf.OpenFile("../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestFind(t *testing.T) {
	for _, path := range []string{"../../testdata/conformance/f32", "../../testdata/conformance/f32.gguf",
		"../../testdata/conformance/f32.json"} {
		cases, err := parity.Find(path)
		if err != nil || len(cases) != 1 || cases[0].Name != "f32" || cases[0].Reference == "" {
			t.Errorf("Find(%s) = %+v, %v", path, cases, err)
		}
	}
	for _, path := range []string{"absent", t.TempDir(), "doc.go"} {
		if _, err := parity.Find(path); !errors.Is(err, parity.ErrNoCase) {
			t.Errorf("Find(%s): %v, want ErrNoCase", path, err)
		}
	}
}

func TestRelativeError(t *testing.T) {
	for _, tc := range []struct {
		got, want []float32
		below     float64
		above     float64
	}{
		{[]float32{3, 4}, []float32{3, 4}, 1e-9, -1},
		{[]float32{3, 4.05}, []float32{3, 4}, 0.0101, 0.0099},
		{[]float32{3}, []float32{3, 4}, math.Inf(1), 1e300},
	} {
		if e := parity.RelativeError(tc.got, tc.want); e > tc.below || e < tc.above {
			t.Errorf("RelativeError(%v, %v) = %v", tc.got, tc.want, e)
		}
	}
}
