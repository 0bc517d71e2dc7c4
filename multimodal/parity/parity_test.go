package parity_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	textparity "github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/multimodal/parity"
	"github.com/gemwire/gemwire/wgslkit"
)

func TestConformance(t *testing.T) {
	for _, device := range []gemma4.Device{gemma4.DeviceCPU, gemma4.DeviceGPU} {
		t.Run(string(device), func(t *testing.T) {
			for _, folder := range conformance.Folders(t) {
				cases, err := textparity.Find(folder)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range cases {
					if takesMedia(c.Kind, device) && wanted(c.Name, device) {
						t.Run(c.Name, func(t *testing.T) { runCase(t, c, device) })
					}
				}
			}
		})
	}
}

// takesMedia says whether a kind of case has images and clips for a device.
func takesMedia(kind textparity.Kind, device gemma4.Device) bool {
	return kind == textparity.ModelCase || kind == textparity.EmbeddingCase && device == gemma4.DeviceCPU
}

// wanted says whether a run wants a case: on the GPU, make test has one of the small models.
func wanted(name string, device gemma4.Device) bool {
	return device == gemma4.DeviceCPU || name == "e2b" || conformance.All()
}

// withMedia are the repository's cases with images and clips.
var withMedia = map[string]bool{"e2b": true, "types": true, "dense": true, "moe": true, "nano": true, "unified": true,
	"embedding": true}

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
	if checks == 0 && withMedia[c.Name] {
		t.Error("nothing was compared")
	}
}

func nanoSource() gguf.Source {
	source, err := gguf.OpenFile("../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		panic(err)
	}
	return source
}
