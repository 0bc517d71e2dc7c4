//go:build !js

package wgslkit

import (
	"errors"
	"testing"
)

func TestAdapterRank(t *testing.T) {
	discrete, integrated := Info{Name: "Large", Kind: DiscreteGPU}, Info{Name: "Small", Kind: IntegratedGPU}
	software := Info{Name: "llvmpipe", Kind: CPU}
	for _, c := range []struct {
		name         string
		opts         Options
		better, than Info
	}{
		{"speed counts", Options{}, discrete, integrated},
		{"speed was asked for", Options{Power: HighPerformance}, discrete, integrated},
		{"the battery counts", Options{Power: LowPower}, integrated, discrete},
		{"a software rasterizer saves nothing", Options{Power: LowPower}, discrete, software},
		{"a name goes before", Options{Adapter: "large", Power: LowPower}, discrete, integrated},
	} {
		t.Run(c.name, func(t *testing.T) {
			if better, other := adapterRank(c.better, c.opts), adapterRank(c.than, c.opts); better <= other {
				t.Errorf("%s has rank %d, %s %d", c.better.Name, better, c.than.Name, other)
			}
		})
	}
}

func TestUnknownPower(t *testing.T) {
	if _, err := Open(Options{Power: "most"}); !errors.Is(err, ErrValidation) {
		t.Error(err)
	}
}
