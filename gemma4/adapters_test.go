package gemma4_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit"
)

// randomAdapter changes every linear of a model.
func randomAdapter(t testing.TB, m *gemma4.Model, seed uint64, scale float32) *adapter.Adapter {
	t.Helper()
	model, err := arch.Open(m.File())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	a := &adapter.Adapter{Pairs: map[adapter.Target]*adapter.Pair{}}
	for i := range model.Layers {
		for _, l := range adapter.All() {
			w := l.Tensor(&model.Layers[i])
			if w == nil {
				continue
			}
			p := &adapter.Pair{Rank: 3, In: w.RowLen(), Out: w.Rows(), Scale: scale}
			p.A, p.B = make([]float32, p.Rank*p.In), make([]float32, p.Out*p.Rank)
			for _, half := range [][]float32{p.A, p.B} {
				for j := range half {
					half[j] = float32(0.1 * r.NormFloat64())
				}
			}
			a.Pairs[adapter.Target{Layer: i, Linear: l}] = p
		}
	}
	return a
}

// lastLogits are those of a text's last position.
func lastLogits(t testing.TB, s *gemma4.Session, ids []int32) []float32 {
	t.Helper()
	var last []float32
	err := s.Logits(t.Context(), gemma4.Tokens(ids), func(_ int, row []float32) error {
		last = append(last[:0], row...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// Adapters come and go without the model being loaded again, and sessions never
// go on from what was computed under others.
func TestAdaptersComeAndGo(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	s := newSession(t, m, 0)
	ids := []int32{2, 5, 384, 279, 512, 610}
	plain := lastLogits(t, s, ids)
	one, two := randomAdapter(t, m, 1, 0.5), randomAdapter(t, m, 2, 0.5)
	for name, a := range map[string]*adapter.Adapter{"one": one, "two": two} {
		if err := m.LoadAdapter(name, a); err != nil {
			t.Fatal(err)
		}
	}
	use := func(weights map[string]float32) []float32 {
		t.Helper()
		if err := m.UseAdapters(t.Context(), weights); err != nil {
			t.Fatal(err)
		}
		return lastLogits(t, s, ids)
	}
	if !slices.Equal(plain, use(nil)) {
		t.Error("loading alone changes answers")
	}
	first, second := use(map[string]float32{"one": 1}), use(map[string]float32{"two": 1})
	both := use(map[string]float32{"one": 1, "two": 1})
	if slices.Equal(first, plain) || slices.Equal(first, second) || slices.Equal(both, first) ||
		slices.Equal(both, second) {
		t.Error("an adapter makes no difference")
	}
	if !slices.Equal(use(map[string]float32{"one": 0, "two": 1}), second) {
		t.Error("a weight of 0 is not as if the adapter were not there")
	}
	if !slices.Equal(use(map[string]float32{"one": 1}), first) || !slices.Equal(use(nil), plain) {
		t.Error("there is no way back")
	}
	if err := m.UseAdapters(t.Context(), map[string]float32{"three": 1}); !errors.Is(err, gemma4.ErrAdapter) {
		t.Errorf("one that is not loaded: %v", err)
	}
	if err := m.LoadAdapter("one", two); !errors.Is(err, gemma4.ErrAdapter) {
		t.Errorf("a name twice: %v", err)
	}
}

// A session saved under an adapter does not open under another.
func TestSavedUnderAdapter(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	s := newSession(t, m, 0)
	if err := m.LoadAdapter("one", randomAdapter(t, m, 1, 0.5)); err != nil {
		t.Fatal(err)
	}
	if err := m.UseAdapters(t.Context(), map[string]float32{"one": 1}); err != nil {
		t.Fatal(err)
	}
	lastLogits(t, s, []int32{2, 5, 384})
	var saved bytes.Buffer
	if err := s.Save(&saved); err != nil {
		t.Fatal(err)
	}
	if err := s.Restore(bytes.NewReader(saved.Bytes())); err != nil {
		t.Errorf("under the same adapter: %v", err)
	}
	if err := m.ClearAdapters(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Restore(bytes.NewReader(saved.Bytes())); !errors.Is(err, gemma4.ErrSavedSession) {
		t.Errorf("under none: %v", err)
	}
}

// Adapters do not change under an answer.
func TestAdaptersWhileAnswering(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	s := newSession(t, m, 0)
	if err := m.LoadAdapter("one", randomAdapter(t, m, 1, 0.5)); err != nil {
		t.Fatal(err)
	}
	err := s.Logits(t.Context(), gemma4.Tokens([]int32{2, 5}), func(int, []float32) error {
		return m.UseAdapters(context.Background(), map[string]float32{"one": 1})
	})
	if !errors.Is(err, gemma4.ErrBusy) {
		t.Errorf("changed under way: %v", err)
	}
}

// Adapters count against the memory budget before any of them is uploaded: what is
// planned is what is taken, to 1 %, and what does not fit leaves all as it was.
func TestAdaptersWithinABudget(t *testing.T) {
	conformance.OnlyInAll(t)
	const tokens = 256
	ids := []int32{2, 5, 384, 279, 512, 610}
	total := func(m *gemma4.Model) (n int64) {
		for _, bytes := range m.GPUMemory() {
			n += bytes
		}
		return n
	}
	free := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: tokens})
	s := newSession(t, free, 0)
	greedy(t, s, ids, 2)
	a := randomAdapter(t, free, 1, 0.5)
	before, of := total(free), free.GPUMemory()
	use(t, free, "one", a)
	greedy(t, s, ids, 2)
	planned, taken := free.Info().Plan.Adapters, int64(0)
	for _, purpose := range []wgslkit.Purpose{wgslkit.Weights, wgslkit.Activations} {
		taken += free.GPUMemory()[purpose] - of[purpose]
	}
	if off := math.Abs(float64(planned-taken)) / float64(taken); taken <= 0 || off > 0.01 {
		t.Errorf("%d bytes were planned and %d taken", planned, taken)
	}
	plan, err := gemma4.PlanFor(free.File(), gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: tokens},
		adapter.Weighted{Adapter: a, Weight: 1})
	if err != nil || plan.Adapters != planned || plan.Total() != free.Info().Plan.Total() {
		t.Errorf("from the header %v, %v; with the model %d bytes", plan, err, planned)
	}
	if err := free.ClearAdapters(t.Context()); err != nil || free.Info().Plan.Adapters != 0 {
		t.Errorf("without adapters, %d bytes of them are planned, %v", free.Info().Plan.Adapters, err)
	}

	for _, fits := range []bool{true, false} {
		budget := before + planned
		if fits {
			budget += planned / 10 // the programs' parameters
		} else {
			budget -= planned / 10
		}
		m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: tokens,
			GPU: wgslkit.Options{MemoryBudget: budget}})
		s := newSession(t, m, 0)
		plain := greedy(t, s, ids, 4)
		held := m.GPUMemory()
		if err := m.LoadAdapter("one", a); err != nil {
			t.Fatal(err)
		}
		err := m.UseAdapters(t.Context(), map[string]float32{"one": 1})
		if fits {
			if err != nil {
				t.Errorf("within the budget: %v", err)
			}
			greedy(t, s, ids, 2)
			if n := total(m); n > budget {
				t.Errorf("%d bytes in use of %d allowed", n, budget)
			}
			continue
		}
		if !errors.Is(err, gemma4.ErrDoesNotFit) || !strings.Contains(err.Error(), "MB") {
			t.Errorf("beyond the budget: %v; want ErrDoesNotFit with figures", err)
		}
		if !maps.Equal(m.GPUMemory(), held) || m.Adapters()[0].Weight != 0 || m.Info().Plan.Adapters != 0 {
			t.Errorf("something is left of the adapter: %v, before %v", m.GPUMemory(), held)
		}
		if got := greedy(t, s, ids, 4); !equal(got, plain) {
			t.Errorf("answers %v, before it was asked for %v", got, plain)
		}
	}
}

// TestAdaptersInABatch changes the adapters between answers of a batch, which are then those
// of a session: nothing is left of what was computed with others.
func TestAdaptersInABatch(t *testing.T) {
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		opts.Context = 128
		m := open(t, nanoPath, opts)
		if err := m.LoadAdapter("one", randomAdapter(t, m, 1, 2)); err != nil {
			t.Fatal(err)
		}
		b, s := newBatch(t, m, gemma4.BatchOptions{Streams: 3}), newSession(t, m, 0)
		prompts := [][]int32{{2, 700, 41, 30, 20, 9, 8, 7}, {2, 100, 7, 300, 20}, {2, 9, 8, 7, 44}}
		var before [][]int32
		for i, mix := range []map[string]float32{nil, {"one": 1}, nil} {
			for err := m.UseAdapters(t.Context(), mix); err != nil; err = m.UseAdapters(t.Context(), mix) {
				if !errors.Is(err, gemma4.ErrBusy) { // the batch lets go of the last ones
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
			}
			got, errs := make([][]int32, len(prompts)), make([]error, len(prompts))
			var group sync.WaitGroup
			for p := range prompts {
				group.Go(func() { got[p], errs[p] = inBatch(b, prompts[p], gemma4.Choosing{MaxTokens: 8}) })
			}
			group.Wait()
			for p, prompt := range prompts {
				if want := greedy(t, s, prompt, 8); errs[p] != nil || !slices.Equal(got[p], want) {
					t.Errorf("mix %d, prompt %d: %v, %v; alone %v", i, p, got[p], errs[p], want)
				}
			}
			if i == 1 && slices.EqualFunc(got, before, slices.Equal) {
				t.Error("the adapter changes nothing")
			}
			before = got
		}
	})
}
