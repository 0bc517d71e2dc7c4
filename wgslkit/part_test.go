package wgslkit_test

import (
	"errors"
	"testing"

	"github.com/gemwire/gemwire/wgslkit"
)

func TestSubmitPart(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	k := scaleKernel(t, dev)
	x, y := buffer(t, dev, 400), buffer(t, dev, 400)
	if err := x.Write(0, ones(100)); err != nil {
		t.Fatal(err)
	}
	p := dev.NewProgram("to and fro")
	add := func(from, to *wgslkit.Buffer, factor float32) {
		p.Add(wgslkit.Call{Label: "scale", Kernel: k, Bind: []wgslkit.Binding{from.All(), to.All()},
			Params: scaleParams{100, factor}, Grid: wgslkit.Grid{Tile: 64}})
	}
	add(x, y, 2)
	add(y, x, 3)
	middle := p.Recorded()
	add(x, y, 5)
	add(y, x, 7)
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	for _, step := range []struct {
		first, last int
		want        float32
	}{{0, middle, 6}, {middle, 4, 6 * 35}, {2, 2, 6 * 35}, {0, 4, 6 * 35 * 210}} {
		if err := p.SubmitPart(100, step.first, step.last); err != nil {
			t.Fatal(err)
		}
		checkAll(t, x, 100, step.want)
	}
	// The whole after a part is the whole.
	if err := p.Submit(100); err != nil {
		t.Fatal(err)
	}
	checkAll(t, x, 100, 6*35*210*210)
	for _, bad := range [][2]int{{-1, 2}, {0, 5}, {3, 2}} {
		if err := p.SubmitPart(100, bad[0], bad[1]); !errors.Is(err, wgslkit.ErrValidation) {
			t.Errorf("dispatches %v: %v", bad, err)
		}
	}
}

// A part of a buffer is written, bound and read where it lies, and ends with it.
func TestPart(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	k := scaleKernel(t, dev)
	x, y := buffer(t, dev, 1024), buffer(t, dev, 1024)
	from, to := x.Part(256, 768).Part(256, 256), y.Part(512, 256)
	for b, value := range map[*wgslkit.Buffer][]byte{from: ones(64), y: make([]byte, 1024)} {
		if err := b.Write(0, value); err != nil {
			t.Fatal(err)
		}
	}
	p := dev.NewProgram("part")
	p.Add(wgslkit.Call{Label: "scale", Kernel: k, Bind: []wgslkit.Binding{from.All(), to.All()},
		Params: scaleParams{64, 3}, Grid: wgslkit.Grid{Tile: 64}})
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if err := p.Submit(64); err != nil {
		t.Fatal(err)
	}
	checkAll(t, to, 64, 3)
	whole, err := y.ReadFloats(256)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range whole {
		if inside := i >= 128 && i < 192; (v == 3) != inside || !inside && v != 0 {
			t.Errorf("value %d of the whole is %v", i, v)
			break
		}
	}
	to.Release()
	if err := to.Write(0, ones(64)); err != nil {
		t.Errorf("after its release, which frees nothing: %v", err)
	}
	for name, b := range map[string]*wgslkit.Buffer{"beyond the end": x.Part(768, 512),
		"of nothing": x.Part(1024, 256)} {
		if err := b.Write(0, ones(64)); !errors.Is(err, wgslkit.ErrReleased) {
			t.Errorf("a part %s: %v", name, err)
		}
	}
}
