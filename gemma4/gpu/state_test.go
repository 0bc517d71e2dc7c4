package gpu

import (
	"slices"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// Steps are pipelined before what is read, as many as the time between tokens asks for, and none
// beyond the last that may be chosen.
func TestStepsArePipelined(t *testing.T) {
	e, _ := newEngine(t, "../../testdata/conformance/nano/nano.gguf", 256)
	st, err := e.newState(256)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	st.deepest = maxDepth // as on a GPU, whatever the device is
	prompt, n := []int32{2, 100, 7, 300, 20}, 8
	var want []int32
	for _, tc := range []struct {
		name  string
		pause time.Duration
		most  int
	}{{"at once", 0, 2}, {"slowly", 2 * shortStep, 1}} {
		st.Rewind(0)
		if err := st.Prefill(t.Context(), engine.Piece{Tokens: prompt}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		if err := st.Start(sample.Params{}, slices.Clone(prompt), n, nil); err != nil {
			t.Fatal(err)
		}
		var got []int32
		for left := n - 1; left >= 0; left-- {
			choice, err := st.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, choice.Token)
			if n := len(st.inFlight); n < min(1, left) || n > min(tc.most, left) {
				t.Errorf("read %s, token %d: %d steps are under way, %d at most are right",
					tc.name, len(got), n, min(tc.most, left))
			}
			time.Sleep(tc.pause)
		}
		st.Stop(len(prompt))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("read %s: %v, want %v", tc.name, got, want)
		}
	}
}

// A checkpoint is a copy between buffers that there are: it takes no more than a submission.
func TestCheckpointsTakeNothing(t *testing.T) {
	e, _ := newEngine(t, "../../testdata/conformance/nano/nano.gguf", 2048)
	device := e.device
	st, err := e.newState(2048)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	buffers, end := device.Buffers(), 0
	submission := testing.AllocsPerRun(40, func() {
		if err := st.checkpoints.save[0].Submit(1); err != nil {
			t.Fatal(err)
		}
	})
	allocations := testing.AllocsPerRun(40, func() {
		end += 7
		if err := st.checkpoints.add(end, end, true); err != nil {
			t.Fatal(err)
		}
	})
	if _, to := st.checkpoints.back(end); to != end || allocations > submission || device.Buffers() != buffers {
		t.Errorf("back from %d to %d; %v allocations for each, %d buffers, then %d", end, to, allocations, buffers,
			device.Buffers())
	}
}
