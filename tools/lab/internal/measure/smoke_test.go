package measure

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit"
)

func TestSmoke(t *testing.T) {
	conformance.OnlyInAll(t)
	dispatches := openNanoOnGPU(t)
	work, err := Smoke(context.Background(),
		func() (*gguf.File, error) { return gguf.Open(context.Background(), nano.Source()) }, wgslkit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]PhaseWork{}
	for _, p := range work.Phases {
		by[p.Phase] = p
		if p.GPUBytes <= 0 || p.Allocations < 0 || p.Unit == "" {
			t.Errorf("%+v", p)
		}
	}
	if len(by) != 10 {
		t.Fatalf("%d phases: %+v", len(by), work)
	}
	decode := by["decode"]
	if decode.Dispatches != int64(dispatches) || decode.Submits != 1 || decode.Reads != 1 {
		t.Errorf("a token is one submission of %d dispatches and one read: %+v", dispatches, decode.Work)
	}
	if layers := int64(openNano(t, "cpu").Config().Blocks); by["adapted decode"].Dispatches != decode.Dispatches+
		4*layers {
		t.Errorf("adapters on all linears take a dispatch for each of a layer's four inputs: %d, without them %d",
			by["adapted decode"].Dispatches, decode.Dispatches)
	}
	for _, name := range []string{"prefill", "decode", "follow-up", "adapted prefill", "adapted decode", "image",
		"clip", "train"} {
		if p := by[name]; p.Buffers+p.Pipelines+p.BindGroups != 0 {
			t.Errorf("%s makes things: %+v", name, p.Work)
		}
	}
	if by["follow-up"].BoundBytes >= by["prefill"].BoundBytes {
		t.Errorf("the follow-up computes the prompt anew: %+v", by["follow-up"].Work)
	}
}

// openNanoOnGPU tells how many dispatches a token of the built-in model takes.
func openNanoOnGPU(t *testing.T) int {
	t.Helper()
	s, err := openNano(t, "gpu").NewSession(8)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.Dispatches()
}

func TestCompareWork(t *testing.T) {
	phase := func(name string, dispatches, allocations int64) PhaseWork {
		return PhaseWork{Phase: name, Unit: "token", Work: wgslkit.Work{Dispatches: dispatches},
			Allocations: allocations}
	}
	before := []PhaseWork{phase("decode", 56, 100), phase("gone", 1, 1)}
	for name, c := range map[string]struct {
		after      []PhaseWork
		grew, fell []string
	}{
		"the same": {[]PhaseWork{phase("decode", 56, 109), phase("gone", 1, 1)}, nil, nil},
		"one more": {[]PhaseWork{phase("decode", 57, 100), phase("gone", 1, 1)},
			[]string{"decode, dispatches: 57, was 56 (token)"}, nil},
		"one fewer": {[]PhaseWork{phase("decode", 55, 100), phase("gone", 1, 1)}, nil,
			[]string{"decode, dispatches: 55, was 56 (token)"}},
		"allocations": {[]PhaseWork{phase("decode", 56, 110), phase("gone", 1, 1)},
			[]string{"decode, allocations: 110, was 100 (token)"}, nil},
		"other phases": {[]PhaseWork{phase("decode", 56, 100), phase("new", 1, 1)},
			[]string{"new: a new phase", "gone: a phase that was not counted this time"}, nil},
	} {
		grew, fell, err := CompareWork(Workload{Phases: before}, Workload{Phases: c.after})
		if err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(c.grew, grew); d != "" {
			t.Errorf("%s, grew: %s", name, d)
		}
		if d := cmp.Diff(c.fell, fell); d != "" {
			t.Errorf("%s, fell: %s", name, d)
		}
	}
	if _, _, err := CompareWork(Workload{Kind: wgslkit.CPU}, Workload{Kind: wgslkit.DiscreteGPU}); !errors.Is(err,
		ErrOtherDevice) {
		t.Errorf("another kind: %v", err)
	}
	// Every figure is compared.
	full := PhaseWork{Phase: "x"}
	names := figures(full)
	for _, want := range []string{"submits", "boundBytes", "readBytes", "pipelines", "gpuBytes", "heapBytes"} {
		if _, ok := names[want]; !ok {
			t.Errorf("%s is not compared: %v", want, names)
		}
	}
}
