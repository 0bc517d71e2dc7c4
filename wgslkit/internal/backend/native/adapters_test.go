//go:build !js

package native

import (
	"testing"

	"github.com/gemwire/gemwire/wgslkit/adapter"
	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

func TestAdapterRank(t *testing.T) {
	discrete, integrated := adapter.Info{Name: "Large", Kind: adapter.DiscreteGPU},
		adapter.Info{Name: "Small", Kind: adapter.IntegratedGPU}
	software := adapter.Info{Name: "llvmpipe", Kind: adapter.CPU}
	for _, c := range []struct {
		name         string
		opts         backend.Options
		better, than adapter.Info
	}{
		{"speed counts", backend.Options{}, discrete, integrated},
		{"the battery counts", backend.Options{LowPower: true}, integrated, discrete},
		{"a software rasterizer saves nothing", backend.Options{LowPower: true}, discrete, software},
		{"a name goes before", backend.Options{Adapter: "large", LowPower: true}, discrete, integrated},
	} {
		t.Run(c.name, func(t *testing.T) {
			if better, other := adapterRank(c.better, c.opts), adapterRank(c.than, c.opts); better <= other {
				t.Errorf("%s has rank %d, %s %d", c.better.Name, better, c.than.Name, other)
			}
		})
	}
}
