package cpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

// Each output of a product is the same sum however many tokens go together, and
// attention takes keys in the same order: results of different ways to the same
// positions are equal to the last bit. WebAssembly's kernels add up in another order
// where there is one token.
func equalLogits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if runtime.GOOS == "js" && kernel.Best != kernel.Set(kernel.Plain{}) {
		closeTo(t, what, got, want)
	} else if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s: other logits (%d against %d values, relative L2 %.1e)", what, len(got), len(want),
			relativeL2(t, got, want))
	}
}

// fresh returns the last logits of inputs run at once in an empty cache.
func fresh(t *testing.T, m *Model, inputs []Input) []float32 {
	t.Helper()
	return forward(t, m, newCache(t, m), inputs, Want{})
}

func TestBatchesMakeNoDifference(t *testing.T) {
	for _, name := range caseNames {
		t.Run(name, func(t *testing.T) {
			c := findCase(t, name)
			inputs := promptOf(t, name, 120)
			large := openModel(t, c.model, Options{Batch: 128, Threads: 1})
			all := forward(t, large, newCache(t, large), inputs, Want{Logits: AllLogits})
			vocab := large.config.Vocab
			equalLogits(t, "last of all", fresh(t, large, inputs), all[len(all)-vocab:])

			small := openModel(t, c.model, Options{Batch: 7, Threads: 3}) // its rings wrap
			equalLogits(t, "batches of 7", forward(t, small, newCache(t, small), inputs, Want{Logits: AllLogits}), all)

			cache := newCache(t, small)
			for _, n := range []int{1, 40, 2, 77} {
				cut := cache.Len() + n
				part := forward(t, small, cache, inputs[cut-n:cut], Want{})
				equalLogits(t, "call by call", part, all[(cut-1)*vocab:cut*vocab])
			}
			cache = newCache(t, small)
			if got := forward(t, small, cache, inputs[:119], Want{Logits: NoLogits}); got != nil {
				t.Errorf("NoLogits gave %d logits", len(got))
			}
			equalLogits(t, "after NoLogits", forward(t, small, cache, inputs[119:], Want{}), all[len(all)-vocab:])
		})
	}
}

func TestWeightBudgetMakesNoDifference(t *testing.T) {
	for _, name := range []string{"types", "moe"} {
		t.Run(name, func(t *testing.T) {
			c := findCase(t, name)
			inputs := promptOf(t, name, 20)
			want := fresh(t, openModel(t, c.model, Options{}), inputs)
			for _, budget := range []int64{-1, 1 << 20, 8 << 20} {
				m := openModel(t, c.model, Options{WeightBudget: budget})
				equalLogits(t, "within a budget", fresh(t, m, inputs), want)
			}
		})
	}
}

// An image among text, before and after which rings have wrapped.
func TestImageAcrossBatches(t *testing.T) {
	for _, name := range []string{"dense", "e2b"} {
		t.Run(name, func(t *testing.T) {
			c := findCase(t, name)
			large := openModel(t, c.model, Options{Batch: 512})
			small := openModel(t, c.model, Options{Batch: 5})
			inputs := promptOf(t, name, 200)
			rng := rand.New(rand.NewPCG(5, 6))
			for i := 60; i < 130; i++ { // two images side by side
				inputs[i] = Input{Embedding: make([]float32, large.config.EmbeddingLength), Image: 1 + i/100}
				for j := range inputs[i].Embedding {
					inputs[i].Embedding[j] = float32(rng.NormFloat64())
				}
			}
			want := forward(t, large, newCache(t, large), inputs, Want{Logits: AllLogits})
			equalLogits(t, "batches of 5", forward(t, small, newCache(t, small), inputs, Want{Logits: AllLogits}), want)
		})
	}
}

// Whatever was appended and taken back, the cache behaves like a fresh one that
// saw the tokens that are left; and a truncation it allows loses nothing.
func TestTruncateProperty(t *testing.T) {
	m := openModel(t, findCase(t, "f32").model, Options{Batch: 6})
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cache := newCache(t, m)
		var ids []int32
		refused := 0
		for range 40 {
			if n := rng.IntN(len(ids) + 1); rng.IntN(3) == 0 {
				n = max(n, len(ids)-rng.IntN(12)) // mostly not far
				can := cache.CanTruncate(n)
				err := cache.Truncate(n)
				if can != (err == nil) {
					t.Fatalf("CanTruncate(%d) = %t, Truncate gave %v", n, can, err)
				}
				if errors.Is(err, ErrTruncate) {
					refused++
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				ids = ids[:n]
			}
			for range 1 + rng.IntN(9) {
				ids = append(ids, rng.Int32N(int32(m.config.Vocab)))
			}
			got := forward(t, m, cache, Tokens(ids[cache.Len():]), Want{})
			if cache.Len() != len(ids) {
				t.Fatalf("%d positions, wanted %d", cache.Len(), len(ids))
			}
			equalLogits(t, "after truncations", got, fresh(t, m, Tokens(ids)))
		}
		t.Logf("seed %d: %d positions, %d truncations refused", seed, len(ids), refused)
	}
}

func TestTruncateLimits(t *testing.T) {
	m := openModel(t, findCase(t, "f32").model, Options{Batch: 8})
	window := m.config.SlidingWindow
	cache := newCache(t, m)
	inputs := promptOf(t, "f32", 120)
	forward(t, m, cache, inputs, Want{Logits: NoLogits})

	furthest := 120 - (window + 8) + window - 1 // what the ring holds, less what its first token sees
	for n, want := range map[int]error{-1: ErrInput, 121: ErrInput, 1: ErrTruncate, furthest - 1: ErrTruncate} {
		if err := cache.Truncate(n); !errors.Is(err, want) {
			t.Errorf("Truncate(%d) = %v, wanted %v", n, err, want)
		}
	}
	if cache.Len() != 120 {
		t.Fatalf("refused truncations left %d positions", cache.Len())
	}
	for _, n := range []int{120, furthest, 0} {
		if err := cache.Truncate(n); err != nil {
			t.Fatalf("Truncate(%d): %v", n, err)
		}
		got := forward(t, m, cache.Clone(), inputs[:9], Want{})
		equalLogits(t, "after truncating", got, fresh(t, m, append(slices.Clone(inputs[:n]), inputs[:9]...)))
	}
}

func TestStateRoundTrip(t *testing.T) {
	for _, name := range []string{"f32", "dense"} {
		for _, n := range []int{0, 3, 15, 16, 100} {
			m := openModel(t, findCase(t, name).model, Options{Batch: 8})
			inputs := promptOf(t, name, 120)
			cache := newCache(t, m)
			if n > 0 {
				forward(t, m, cache, inputs[:n], Want{Logits: NoLogits})
			}
			restored := newCache(t, m)
			forward(t, m, restored, inputs[50:70], Want{Logits: NoLogits}) // is replaced
			if err := restored.Restore(cache.State()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(cache.State(), restored.State()); diff != "" {
				t.Errorf("%s, %d positions: the state changed:\n%s", name, n, diff)
			}
			if n > 20 && restored.CanTruncate(n-1) {
				t.Errorf("%s: a restored cache cannot go back behind what was saved", name)
			}
			got := forward(t, m, restored, inputs[n:], Want{Logits: AllLogits})
			equalLogits(t, name, got, forward(t, m, cache, inputs[n:], Want{Logits: AllLogits}))
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	m := openModel(t, findCase(t, "f32").model, Options{})
	cache := newCache(t, m)
	forward(t, m, cache, promptOf(t, "f32", 30), Want{Logits: NoLogits})
	good := cache.State()
	damages := map[string]func(*State){
		"length too small":  func(s *State) { s.Length-- },
		"length negative":   func(s *State) { s.Length = -1 },
		"length of no end":  func(s *State) { s.Length = 1 << 40 },
		"a layer missing":   func(s *State) { s.Layers = s.Layers[:2] },
		"a layer too many":  func(s *State) { s.Layers = append(s.Layers, s.Layers[0]) },
		"layers swapped":    func(s *State) { s.Layers[0], s.Layers[3] = s.Layers[3], s.Layers[0] },
		"values missing":    func(s *State) { s.Layers[1].V = s.Layers[1].V[1:] },
		"another dimension": func(s *State) { s.Layers[1].Dim *= 2 },
		"another start":     func(s *State) { s.Layers[1].First++ },
	}
	for name, damage := range damages {
		bad := State{Length: good.Length, Layers: slices.Clone(good.Layers)}
		damage(&bad)
		if err := cache.Restore(bad); !errors.Is(err, ErrInput) {
			t.Errorf("%s: got %v, wanted ErrInput", name, err)
		}
		if diff := cmp.Diff(good, cache.State()); diff != "" {
			t.Fatalf("%s: a refused state changed the cache", name)
		}
	}
}

func TestInputErrors(t *testing.T) {
	m := openModel(t, findCase(t, "f32").model, Options{})
	other := openModel(t, findCase(t, "e2b").model, Options{})
	small, err := m.NewCache(4)
	if err != nil {
		t.Fatal(err)
	}
	vocab := int32(m.config.Vocab)
	tests := []struct {
		name   string
		cache  *Cache
		inputs []Input
		want   error
	}{
		{"no tokens", small, nil, ErrInput},
		{"token above the vocabulary", small, Tokens([]int32{0, vocab}), ErrInput},
		{"negative token", small, Tokens([]int32{-1}), ErrInput},
		{"soft token of another length", small, []Input{{Embedding: make([]float32, 3)}}, ErrInput},
		{"cache of another model", newCache(t, other), Tokens([]int32{1}), ErrInput},
		{"too many tokens", small, Tokens([]int32{1, 2, 3, 4, 5}), ErrContextFull},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := m.Forward(context.Background(), tt.cache, tt.inputs, Want{}); !errors.Is(err, tt.want) {
				t.Errorf("got %v, wanted %v", err, tt.want)
			}
		})
	}
	forward(t, m, small, Tokens([]int32{1, 2, 3, 4}), Want{})
	if _, err := m.Forward(context.Background(), small, Tokens([]int32{1}), Want{}); !errors.Is(err, ErrContextFull) {
		t.Errorf("a fifth token in a context of 4: got %v, wanted ErrContextFull", err)
	}
	for _, n := range []int{-1, m.config.ContextLength + 1} {
		if _, err := m.NewCache(n); !errors.Is(err, ErrInput) {
			t.Errorf("NewCache(%d): got %v, wanted ErrInput", n, err)
		}
	}
}

func TestCancel(t *testing.T) {
	m := openModel(t, findCase(t, "f32").model, Options{Batch: 10})
	inputs := promptOf(t, "f32", 50)
	cache := newCache(t, m)
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err := m.Forward(ctx, cache, inputs, Want{Hidden: func(layer, first int, _ []float32) {
		if calls++; first == 20 && layer == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, wanted context.Canceled", err)
	}
	if cache.Len() != 20 {
		t.Fatalf("%d positions after cancelling in the third batch of 10, wanted 20", cache.Len())
	}
	equalLogits(t, "going on", forward(t, m, cache, inputs[20:], Want{}), fresh(t, m, inputs))
}

func TestManySessionsAtOnce(t *testing.T) {
	m := openModel(t, findCase(t, "f32").model, Options{Threads: 3})
	inputs := promptOf(t, "f32", 40)
	want := fresh(t, m, inputs)
	var wait sync.WaitGroup
	for range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			cache, err := m.NewCache(64)
			if err != nil {
				t.Error(err)
				return
			}
			got, err := m.Forward(context.Background(), cache, inputs, Want{})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("another session's logits differ (%v)", err)
			}
		}()
	}
	wait.Wait()
}
