package wgslkit_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/gemwire/gemwire/wgslkit"
)

const scaleWGSL = `
// y[i] = factor * x[i]
struct Params { count: u32, factor: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.count) { y[id.x] = params.factor * x[id.x]; }
}
`

func TestProgram(t *testing.T) {
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Log(dev.Info(), dev.Limits(), dev.Features())
	shaders := wgslkit.NewShaders(fstest.MapFS{"scale.wgsl": {Data: []byte(scaleWGSL)}})
	k, err := dev.Kernel(shaders, "scale.wgsl", wgslkit.Variant{"WIDTH": 64})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := dev.NewBuffer("x", wgslkit.Activations, 400)
	y, _ := dev.NewBuffer("y", wgslkit.Activations, 400)
	defer x.Release()
	defer y.Release()
	raw := make([]byte, 400)
	for i := range 100 {
		raw[4*i+2], raw[4*i+3] = 0x80, 0x3f // 1.0
	}
	if err := x.Write(0, raw); err != nil {
		t.Fatal(err)
	}
	p := dev.NewProgram("scale")
	type params struct {
		Count  uint32
		Factor float32
	}
	for range 3 {
		p.Add(wgslkit.Call{Label: "scale", Kernel: k, Bind: []wgslkit.Binding{x.All(), y.All()}, Params: params{100, 3}, Grid: wgslkit.Grid{Tile: 64}})
	}
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if err := p.Submit(100); err != nil {
		t.Fatal(err)
	}
	got, err := y.ReadFloats(100)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != 3 {
			t.Fatalf("y[%d] = %v, want 3", i, v)
		}
	}
	if dev.Features().Timestamps {
		times, err := p.Profile(100)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(times)
	}
}
