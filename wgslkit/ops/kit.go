package ops

import (
	"embed"
	"io/fs"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
)

//go:embed wgsl
var files embed.FS

// Kit chooses kernel variants for one device, by what the device can do.
type Kit struct {
	dev     *wgslkit.Device
	shaders *wgslkit.Shaders
	tuning  Tuning
}

// Tuning holds the sizes that differ between kinds of device.
type Tuning struct {
	// Threads is the workgroup size of reductions over a row.
	Threads int
	// Subgroups, F16 and PackedDot allow variants that use these features.
	Subgroups, F16, PackedDot bool
}

// New returns the kit for dev.
func New(dev *wgslkit.Device) *Kit {
	sub, err := fs.Sub(files, "wgsl")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return &Kit{dev: dev, shaders: wgslkit.NewShaders(sub), tuning: tune(dev)}
}

func tune(dev *wgslkit.Device) Tuning {
	f := dev.Features()
	t := Tuning{Threads: 256, Subgroups: f.Subgroups, F16: f.ShaderF16, PackedDot: f.PackedDot}
	if dev.Info().Kind == wgslkit.CPU {
		// A software rasterizer runs a workgroup's threads one vector after
		// another and pays for every barrier: small groups suit it.
		t.Threads = 32
	}
	return t
}

// Device is the device that the kit is for.
func (k *Kit) Device() *wgslkit.Device { return k.dev }

// Vector uploads float32 values: a norm's weights, a rotation's factors.
func (k *Kit) Vector(label string, purpose wgslkit.Purpose, values []float32) (*wgslkit.Buffer, error) {
	b, err := k.dev.NewBuffer(label, purpose, int64(4*len(values)))
	if err != nil {
		return nil, err
	}
	if err := b.Write(0, floatBytes(values)); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

func floatBytes(values []float32) []byte {
	raw := make([]byte, 4*len(values))
	for i, v := range values {
		u := math.Float32bits(v)
		raw[4*i], raw[4*i+1], raw[4*i+2], raw[4*i+3] = byte(u), byte(u>>8), byte(u>>16), byte(u>>24)
	}
	return raw
}
