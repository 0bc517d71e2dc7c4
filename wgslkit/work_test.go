package wgslkit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/wgslkit"
)

func TestWorkIsCounted(t *testing.T) {
	dev := open(t, wgslkit.Options{CountWork: true})
	k := scaleKernel(t, dev)
	x, y := buffer(t, dev, 400), buffer(t, dev, 400)
	if err := x.Write(0, ones(100)); err != nil {
		t.Fatal(err)
	}
	p := dev.NewProgram("double, then copy back")
	p.Add(wgslkit.Call{Label: "double", Kernel: k, Bind: []wgslkit.Binding{x.All(), y.All()},
		Params: scaleParams{100, 2}, Grid: wgslkit.Grid{Tile: 64}})
	p.Copy(y, x, 0, 0, 400)
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	for _, width := range []int{100, 100, 64, 0} { // the last has no workgroup to run
		if err := p.Submit(width); err != nil {
			t.Fatal(err)
		}
	}
	checkAll(t, x, 64, 8)
	want := wgslkit.Work{
		Submits: 4, Dispatches: 3, Workgroups: 2 + 2 + 1, BoundBytes: 3 * 400, CopiedBytes: 4 * 400,
		Writes: 2, WrittenBytes: 400 + 16, // the values and the parameters
		Reads: 1, ReadBytes: 256,
		Buffers: 3, Pipelines: 1, BindGroups: 1, // the third buffer holds the parameters
	}
	got := dev.Work()
	got.Buffers -= 1 // what the read was staged in
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if w := open(t, wgslkit.Options{}).Work(); w != (wgslkit.Work{}) {
		t.Errorf("not asked for: %+v", w)
	}
}
