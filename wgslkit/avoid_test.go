package wgslkit_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/wgslkit"
)

const formWGSL = `
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(WIDTH)
fn main() { y[0] = 1.0; }
`

func TestAvoidedKernelsAreRefused(t *testing.T) {
	files := wgslkit.NewShaders(fstest.MapFS{"a.wgsl": {Data: []byte(formWGSL)}})
	small := wgslkit.Variant{"WIDTH": 8, "HALF": true, "QUANT": "q4_k"}
	large := wgslkit.Variant{"WIDTH": 16, "HALF": true, "QUANT": "q4_k"}
	other := wgslkit.Variant{"WIDTH": 8, "HALF": false, "QUANT": "q4_k"}
	const form = "a.wgsl[HALF=true,QUANT=q4_k]"
	for _, c := range []struct {
		name    string
		avoid   string
		refused []bool
	}{
		{"one size", "a.wgsl[HALF=true,QUANT=q4_k,WIDTH=8]", []bool{true, false, false}},
		{"all sizes", form, []bool{true, true, false}},
		{"nothing", "b.wgsl", []bool{false, false, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dev := open(t, wgslkit.Options{Avoid: func(i wgslkit.Info) wgslkit.Avoid {
				if i.Name == "" {
					t.Error("asked before the adapter is known")
				}
				return wgslkit.Avoid{Kernels: []string{c.avoid}, Features: wgslkit.Features{Timestamps: true}}
			}})
			if dev.Features().Timestamps {
				t.Error("an avoided feature is in force")
			}
			stop := dev.TraceKernels()
			for i, v := range []wgslkit.Variant{small, large, other} {
				_, err := dev.Kernel(files, "a.wgsl", v)
				if refused := errors.Is(err, wgslkit.ErrBrokenKernel); refused != c.refused[i] || !refused &&
					err != nil {
					t.Errorf("variant %v: %v", v, err)
				}
			}
			want := []wgslkit.KernelID{
				{Name: "a.wgsl[HALF=false,QUANT=q4_k,WIDTH=8]", Form: "a.wgsl[HALF=false,QUANT=q4_k]"},
				{Name: "a.wgsl[HALF=true,QUANT=q4_k,WIDTH=16]", Form: form},
				{Name: "a.wgsl[HALF=true,QUANT=q4_k,WIDTH=8]", Form: form},
			}
			if d := cmp.Diff(want, stop()); d != "" {
				t.Error(d)
			}
		})
	}
}
