package wgslkit

import "github.com/gemwire/gemwire/wgslkit/internal/backend"

// Wanted lists kernels in the order in which they were first asked for.
type Wanted []wanted

type wanted struct {
	shaders *Shaders
	file    string
	variant Variant
}

// Wanted is what has been asked for so far on a device that rehearses.
func (d *Device) Wanted() Wanted {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wanted
}

// Precompile begins to compile kernels that will be asked for, in a browser: it
// compiles them on threads of its own while weights are on their way. Elsewhere
// kernels are compiled when they are asked for. Close waits for the one under way.
func (d *Device) Precompile(kernels Wanted) {
	if _, ok := d.backend.(backend.AsyncCompiler); !ok {
		return
	}
	d.precompiling.Go(func() {
		for _, k := range kernels {
			_, _ = d.Kernel(k.shaders, k.file, k.variant) // who asks for it hears of an error
		}
	})
}
