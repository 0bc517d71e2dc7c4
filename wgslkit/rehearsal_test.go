package wgslkit_test

import (
	"errors"
	"maps"
	"reflect"
	"testing"

	"github.com/gemwire/gemwire/wgslkit"
)

// scaled makes, runs and reads a program, and returns what lies on the device meanwhile.
func scaled(t *testing.T, dev *wgslkit.Device) map[wgslkit.Purpose]int64 {
	t.Helper()
	x, y := buffer(t, dev, 4000), buffer(t, dev, 4001)
	p := dev.NewProgram("scale")
	p.Add(wgslkit.Call{Kernel: scaleKernel(t, dev), Bind: []wgslkit.Binding{x.All(), y.All()},
		Params: scaleParams{1000, 2}, Grid: wgslkit.Grid{X: 16}})
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Release)
	if err := errors.Join(x.Write(0, ones(1000)), p.Submit(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := y.Read(0, 400); err != nil {
		t.Fatal(err)
	}
	return dev.Memory()
}

func TestRehearsalsCountAndMakeNothing(t *testing.T) {
	dev := open(t, wgslkit.Options{CountWork: true})
	before := dev.Work()
	rehearsed := dev.Rehearse()
	t.Cleanup(func() {
		if err := rehearsed.Close(); err != nil {
			t.Error(err)
		}
	})
	want := scaled(t, rehearsed)
	if work := dev.Work().Minus(before); work != (wgslkit.Work{}) || len(dev.Memory()) > 0 {
		t.Errorf("a rehearsal did %+v", work)
	}
	if !reflect.DeepEqual(rehearsed.Info(), dev.Info()) || rehearsed.Limits() != dev.Limits() ||
		rehearsed.Features() != dev.Features() {
		t.Error("another device was rehearsed on")
	}
	if got := scaled(t, dev); !maps.Equal(got, want) || dev.Peak() != rehearsed.Peak() {
		t.Errorf("%v are taken, at most %d; rehearsed were %v, %d", got, dev.Peak(), want, rehearsed.Peak())
	}
}

// What a read waits in counts against the budget.
func TestReadsKeepToTheBudget(t *testing.T) {
	dev := open(t, wgslkit.Options{MemoryBudget: 5000})
	b := buffer(t, dev, 4096)
	if _, err := b.Read(0, 1024); !errors.Is(err, wgslkit.ErrOutOfMemory) {
		t.Errorf("a read over the budget: %v", err)
	}
	if err := dev.RoomToRead(1024); !errors.Is(err, wgslkit.ErrOutOfMemory) {
		t.Errorf("room for it: %v", err)
	}
	for range 2 { // the second waits where the first did
		if _, err := b.Read(0, 512); err != nil {
			t.Fatal(err)
		}
	}
	if err := dev.RoomToRead(512); err != nil {
		t.Error(err)
	}
}
