package parity_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	textparity "github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/multimodal/parity"
	"github.com/gemwire/gemwire/wgslkit"
)

// folders are where conformance cases lie: in the repository, and, with the
// larger ones, in a folder shared beside it.
func folders(t *testing.T) []string {
	t.Helper()
	list := []string{filepath.FromSlash("../../testdata/conformance")}
	dir := os.Getenv("GEMWIRE_SHARED")
	if dir == "" {
		dir = filepath.FromSlash("../../../shared")
	}
	if dir = filepath.Join(dir, "conformance"); isFolder(dir) {
		return append(list, dir)
	}
	t.Logf("%s is not here: only the repository's own cases run", dir)
	return list
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func TestConformance(t *testing.T) {
	for _, device := range []gemma4.Device{gemma4.DeviceCPU, gemma4.DeviceGPU} {
		t.Run(string(device), func(t *testing.T) {
			done := map[string]bool{}
			for _, folder := range folders(t) {
				cases, err := textparity.Find(folder)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range cases {
					if c.Kind == textparity.ModelCase && !done[c.Name] {
						done[c.Name] = true
						t.Run(c.Name, func(t *testing.T) { runCase(t, c, device) })
					}
				}
			}
		})
	}
}

func runCase(t *testing.T, c textparity.Case, device gemma4.Device) {
	checks := 0
	opts := parity.Options{
		Open:    gemma4.OpenOptions{Device: device, Context: 1024},
		Media:   multimodal.Options{Device: device},
		BuiltIn: nanoSource,
	}
	for check, err := range parity.Run(context.Background(), c, opts) {
		if errors.Is(err, wgslkit.ErrNoDevice) {
			t.Skip("no GPU: ", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		checks++
		if !check.Passed {
			t.Errorf("%s: %.3g, at most %.3g allowed: %s", check.What, check.Error, check.Tolerance, check.Detail)
			continue
		}
		t.Logf("%s: %.3g", check.What, check.Error)
	}
	if checks == 0 && c.Name != "f32" { // the only one without media
		t.Error("nothing was compared")
	}
}

func nanoSource() gguf.Source {
	source, err := gguf.OpenFile("../../gemma4/nano/nano.gguf")
	if err != nil {
		panic(err)
	}
	return source
}
