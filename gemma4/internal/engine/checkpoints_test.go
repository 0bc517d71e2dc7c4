package engine

import (
	"math/rand/v2"
	"testing"
)

// A text goes on, turn by turn and by long answers; from wherever it is left, at most
// CheckpointEvery tokens are computed again.
func TestCheckpointsAreNearEnough(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range []Ring{{512, 1024}, {512, 640}, {16, 144}, {1024, 1536}, {1, 2}} {
		for range 50 {
			context := 2000 + random.IntN(30000)
			n := CheckpointSlots(context, r, 1, 0)
			c := NewCheckpoints(n, r)
			step := 1 + random.IntN(r.Slots-r.Window)
			turn := 1 + random.IntN(3000)
			last := 0
			for end := step; end <= context; end += step {
				isTurn := end/turn > (end-step)/turn
				if !isTurn && !c.Due(end+step) {
					continue
				}
				if _, ok := c.Add(end, end, isTurn); !ok {
					t.Fatalf("no room at %d of %d", end, context)
				}
				if isTurn {
					last = end
				}
			}
			for back := 1; back <= context; back += 37 {
				_, to := c.Back(back)
				if to > back || back-to > CheckpointEvery {
					t.Fatalf("ring %+v, context %d in steps of %d, turns of %d, %d checkpoints: from %d back to %d",
						r, context, step, turn, n, back, to)
				}
			}
			if _, to := c.Back(last); to != last {
				t.Errorf("the last turn began at %d, the way back goes to %d", last, to)
			}
		}
	}
}

// By hand, of a window of 4 in a ring of 6: a copy made behind 20 positions has 14 to 19, and
// position n sees n−3 on, so that 17 to 20 can be gone back to.
func TestWhatACheckpointReaches(t *testing.T) {
	c := NewCheckpoints(3, Ring{Window: 4, Slots: 6})
	back := func(n, want int) {
		t.Helper()
		if _, to := c.Back(n); to != want {
			t.Errorf("back to %d goes to %d, want %d", n, to, want)
		}
	}
	back(10, 0)
	c.Add(20, 20, false)
	for n, want := range map[int]int{16: 0, 17: 17, 20: 20, 30: 20} {
		back(n, want)
	}
	c.Add(30, 33, false) // three steps ahead: it has 27 to 32
	for n, want := range map[int]int{29: 20, 30: 30, 31: 30} {
		back(n, want)
	}
	c.Cut(19) // of the text only 19 positions are left
	for n, want := range map[int]int{18: 18, 19: 19, 25: 19} {
		back(n, want)
	}
	if _, ok := c.Add(19, 33, false); ok {
		t.Error("a checkpoint where there is one")
	}
	if _, ok := c.Add(25, 33, false); ok {
		t.Error("a checkpoint of a ring that has lost what position 25 sees")
	}
	c.Cut(16)
	back(40, 0)
	if len(c.free) != 3 {
		t.Errorf("%d slots are free of 3", len(c.free))
	}
	c.Cut(0)
	c.Add(5, 5, true)
	c.Add(6, 6, false)
	c.Add(7, 7, false)
	if _, ok := c.Add(30, 30, false); !ok {
		t.Error("none is given up")
	}
	back(5, 5) // the last turn's stays
	back(6, 6) // out of the one at 7
	back(30, 30)
	c.Cut(0)
	if len(c.free) != 3 {
		t.Errorf("%d slots are free of 3", len(c.free))
	}
}

func TestCheckpointSlots(t *testing.T) {
	for _, tc := range []struct {
		context        int
		ring           Ring
		bytes, weights int64
		want           int
	}{
		{1024, Ring{512, 1024}, 1, 0, 0},           // all of it is computed again as quickly
		{8192, Ring{0, 512}, 1, 0, 0},              // nothing slides
		{8192, Ring{512, 1024}, 0, 0, 0},           // nothing to copy
		{8192, Ring{512, 1024}, 1 << 20, 0, 13},    // 16384 / 1536 and two
		{8192, Ring{512, 1024}, 12 << 20, 0, 5},    // 64 MB
		{8192, Ring{512, 1024}, 12 << 20, 8e9, 13}, // 1 GB
		{8192, Ring{512, 1024}, 1 << 30, 8e9, 0},
	} {
		if got := CheckpointSlots(tc.context, tc.ring, tc.bytes, tc.weights); got != tc.want {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}
