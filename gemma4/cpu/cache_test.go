package cpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// cacheModel is a model without weights, for caches alone: a sliding layer of a window
// of 4 and a global one, of one key/value head of 2, in batches of 2.
func cacheModel(t testing.TB, cacheType quant.Type) *Model {
	t.Helper()
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	for key, value := range map[string]any{
		"general.architecture":                    "gemma4",
		"gemma4.block_count":                      uint32(2),
		"gemma4.context_length":                   uint32(64),
		"gemma4.embedding_length":                 uint32(2),
		"gemma4.feed_forward_length":              uint32(1),
		"gemma4.attention.head_count":             uint32(1),
		"gemma4.attention.layer_norm_rms_epsilon": float32(1e-6),
		"gemma4.attention.sliding_window":         uint32(4),
		"gemma4.attention.sliding_window_pattern": []bool{true, false},
		"gemma4.attention.key_length":             uint32(2),
		"gemma4.attention.key_length_swa":         uint32(2),
		"gemma4.rope.freq_base":                   float32(10000),
		"gemma4.rope.freq_base_swa":               float32(10000),
	} {
		if err := w.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(context.Background(), gguf.Memory(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	config, err := arch.Parse(file.Meta)
	if err != nil {
		t.Fatal(err)
	}
	return &Model{config: config, batch: 2, cacheType: cacheType}
}

// journal is a cache and what was last written for each of its positions.
type journal struct {
	*Cache
	writes int
	values []float32 // of position p
}

// write adds n positions as a step does: room first, then keys and values.
func (j *journal) write(n int) {
	j.reserve(n)
	first := j.length
	for i := range n {
		j.writes++
		v := float32(j.writes)
		j.values = append(j.values[:first+i], v)
		for _, l := range j.layers {
			l.put(first+i, []float32{v, -v}, []float32{10 * v, -10 * v})
		}
	}
	j.length += n
}

// check compares what a token behind the n first positions would see with what was
// written there.
func (j *journal) check(t *testing.T, n int) {
	t.Helper()
	for i, l := range j.layers {
		first := 0
		if i == 0 {
			first = max(0, n-3) // the window of 4 has the token itself in it
		}
		k, v := l.take(first, n)
		if len(k) != 2*(n-first) || len(v) != len(k) {
			t.Fatalf("layer %d: %d and %d values of %d positions", i, len(k), len(v), n-first)
		}
		for p := first; p < n; p++ {
			want, at := j.values[p], 2*(p-first)
			if k[at] != want || k[at+1] != -want || v[at] != 10*want || v[at+1] != -10*want {
				t.Fatalf("layer %d, position %d of %d: keys %v, values %v, wanted those of write %v",
					i, p, n, k[at:at+2], v[at:at+2], want)
			}
		}
	}
}

func newJournal(t testing.TB, context int) *journal {
	t.Helper()
	cache, err := cacheModel(t, quant.F32).NewCache(context)
	if err != nil {
		t.Fatal(err)
	}
	return &journal{Cache: cache}
}

// How far one may go back, worked out by hand: of a ring of 6 slots that 20 positions
// went through, 14 to 19 are left; position n sees n−3 on, so that 17 is the furthest.
// What a ring has lost, no larger one has.
func TestHowFarBack(t *testing.T) {
	write := func(n int) func(*journal) { return func(j *journal) { j.write(n) } }
	twos := func(n int) func(*journal) {
		return func(j *journal) {
			for range n / 2 {
				j.write(2)
			}
		}
	}
	back := func(n int) func(*journal) {
		return func(j *journal) {
			if err := j.Truncate(n); err != nil {
				t.Errorf("Truncate(%d): %v", n, err)
			}
		}
	}
	tests := []struct {
		name     string
		context  int
		steps    []func(*journal)
		furthest int // Truncate to this and all above it, nothing below but 0
	}{
		{"nothing", 64, nil, 0},
		{"a ring that is full", 64, []func(*journal){twos(6)}, 0},
		{"one more than it holds", 64, []func(*journal){twos(6), write(1)}, 4},
		{"a ring that went around", 64, []func(*journal){twos(20)}, 17},
		{"back, which brings nothing back", 64, []func(*journal){twos(20), back(17)}, 17},
		{"back and on again", 64, []func(*journal){twos(20), back(17), twos(2)}, 17},
		{"back and on as far as before", 64, []func(*journal){twos(20), back(18), twos(4)}, 19},
		{"cleared", 64, []func(*journal){twos(20), back(0), twos(4)}, 0},
		// 8 at once want a ring of 12, and 10 one of 14.
		{"a larger ring that lost two", 64, []func(*journal){twos(6), write(8)}, 5},
		{"a larger ring that is full", 64, []func(*journal){twos(4), write(10)}, 0},
		{"a larger ring that lost one", 64, []func(*journal){twos(4), write(10), write(1)}, 4},
		{"a larger ring of a ring that went around", 64, []func(*journal){twos(20), write(10)}, 19},
		// 14 is the first that the ring of 6 holds, and stays so in that of 14.
		{"a larger ring, of as far back as one may go", 64, []func(*journal){twos(20), back(17), write(10)}, 17},
		{"and back in it", 64, []func(*journal){twos(20), back(17), write(10), back(17)}, 17},
		{"two larger ones", 64, []func(*journal){twos(20), back(17), write(10), back(17), write(12)}, 17},
		{"as large as the context", 16, []func(*journal){twos(2), write(14)}, 0},
		{"a context that is no longer than the ring", 5, []func(*journal){twos(4), write(1)}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			j := newJournal(t, test.context)
			for _, step := range test.steps {
				step(j)
			}
			j.check(t, j.Len())
			for n := -1; n <= j.Len()+1; n++ {
				want := n == 0 || n >= test.furthest && n >= 0 && n <= j.Len()
				if got := j.CanTruncate(n); got != want {
					t.Errorf("CanTruncate(%d) of %d positions = %t, wanted %t", n, j.Len(), got, want)
				} else if got {
					j.check(t, n)
				}
			}
		})
	}
}

// Whatever happens to a cache, what it lets one go back to is there.
func TestCacheHoldsWhatItSays(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		j := newJournal(t, 64)
		var log []string
		for range 30 {
			switch n := rng.IntN(10); {
			case n == 0:
				state := j.State()
				if err := j.Restore(state); err != nil {
					t.Fatal(err)
				}
				log = append(log, "restore")
			case n <= 3:
				to := max(0, j.Len()-rng.IntN(8))
				if j.CanTruncate(to) {
					if err := j.Truncate(to); err != nil {
						t.Fatal(err)
					}
					log = append(log, fmt.Sprintf("to %d", to))
				}
			default:
				wanted := 1 + rng.IntN(3)
				if n == 9 {
					wanted = 1 + rng.IntN(12)
				}
				if n := min(wanted, 64-j.Len()); n > 0 {
					j.write(n)
					log = append(log, fmt.Sprintf("write %d", n))
				}
			}
			for n := range j.Len() + 1 {
				if j.CanTruncate(n) {
					j.check(t, n)
				}
			}
			if t.Failed() {
				t.Fatalf("seed %d: %v", seed, log)
			}
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	j := newJournal(t, 64)
	j.write(9)
	clone := &journal{Cache: j.Clone(), writes: 100, values: slices.Clone(j.values)}
	if err := clone.Truncate(8); err != nil {
		t.Fatal(err)
	}
	clone.write(3)
	j.check(t, 9)
	clone.check(t, 11)
}

// Keys and values of 2 layers, of 1 head of 2: 32 bytes of float32 to a slot; a block of
// q8_0 holds 32 values in 34 bytes. Memory doubles, up to what there can be.
func TestCacheBytes(t *testing.T) {
	steps := []struct{ positions, global, sliding int }{ // slots
		{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 4, 4}, {5, 8, 6}, {9, 16, 6}, {17, 32, 6}, {40, 64, 6},
	}
	for cacheType, slot := range map[quant.Type]int{quant.F32: 2 * 2 * 4, quant.Q8_0: 2 * 34} {
		cache, err := cacheModel(t, cacheType).NewCache(0)
		if err != nil {
			t.Fatal(err)
		}
		j := &journal{Cache: cache}
		for _, step := range steps {
			for j.Len() < step.positions {
				j.write(1)
			}
			if got, want := j.Bytes(), int64(slot*(step.global+step.sliding)); got != want {
				t.Errorf("%v, %d positions: %d bytes, wanted %d", cacheType, step.positions, got, want)
			}
		}
		if got := CacheBytes(cacheType, 1, 2); got != int64(slot) {
			t.Errorf("CacheBytes(%v) = %d, wanted %d", cacheType, got, slot)
		}
	}
}

func TestContextOfCache(t *testing.T) {
	m := cacheModel(t, quant.F32)
	for context, want := range map[int]int{0: 64, 1: 1, 63: 63, 64: 64, 65: 0, -1: 0} {
		cache, err := m.NewCache(context)
		if want == 0 {
			if !errors.Is(err, ErrInput) {
				t.Errorf("a context of %d: error %v, wanted ErrInput", context, err)
			}
		} else if err != nil || cache.Context() != want {
			t.Errorf("a context of %d: %v, %v", context, cache, err)
		}
	}
}
