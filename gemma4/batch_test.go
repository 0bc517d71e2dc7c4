package gemma4_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf/conformance"
)

func newBatch(t testing.TB, m *gemma4.Model, o gemma4.BatchOptions) *gemma4.Batch {
	t.Helper()
	b, err := m.NewBatch(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil && !errors.Is(err, gemma4.ErrClosed) {
			t.Error(err)
		}
	})
	return b
}

// inBatch is the tokens that a batch chooses behind a prompt.
func inBatch(b *gemma4.Batch, prompt []int32, c gemma4.Choosing) (tokens []int32, err error) {
	for choice, err := range b.Choose(context.Background(), gemma4.Tokens(prompt), c) {
		if err != nil {
			return tokens, err
		}
		tokens = append(tokens, choice.Token)
	}
	return tokens, nil
}

// nearTie says whether two greedy continuations of a prompt part where a session's logits of
// both tokens are as near as the tolerance of logits, relative to the largest.
func nearTie(t *testing.T, s *gemma4.Session, prompt, a, b []int32, tolerance float64) bool {
	t.Helper()
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) || n == len(b) {
		return len(a) == len(b)
	}
	var last []float32
	text := gemma4.Tokens(slices.Concat(prompt, a[:n]))
	err := s.Logits(context.Background(), text, func(i int, row []float32) error {
		if i == len(text.Tokens)-1 {
			last = slices.Clone(row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	largest := 0.0
	for _, v := range last {
		largest = max(largest, math.Abs(float64(v)))
	}
	gap := math.Abs(float64(last[a[n]] - last[b[n]]))
	t.Logf("they part at token %d, where the logits of both are %g apart, of %g", n, gap, largest)
	return gap <= 2*tolerance*largest
}

// TestBatchAnswersAsAlone answers many prompts at once, more than there are streams, and
// compares each answer with that of a session.
func TestBatchAnswersAsAlone(t *testing.T) {
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		tolerance := 1e-4
		if opts.Device == gemma4.DeviceGPU {
			tolerance = 4e-3
		}
		r := rand.New(rand.NewPCG(7, 8))
		for _, name := range conformance.Some(1, "e2b", "moe", "dense", "f32") {
			t.Run(name, func(t *testing.T) {
				opts := opts
				opts.Context = 128
				m := open(t, conformance.Path(t, name+".gguf"), opts)
				s, b := newSession(t, m, 0), newBatch(t, m, gemma4.BatchOptions{Streams: 3, Piece: 16})
				vocab := int32(m.Config().Vocab)
				prompts := make([][]int32, 7)
				shared := []int32{2}
				for range 40 {
					shared = append(shared, r.Int32N(vocab))
				}
				for i := range prompts {
					if i%2 == 0 {
						prompts[i] = slices.Clone(shared)
					} else {
						prompts[i] = []int32{2}
					}
					for range 1 + r.IntN(40) {
						prompts[i] = append(prompts[i], r.Int32N(vocab))
					}
				}
				answers := make([][]int32, len(prompts))
				var group sync.WaitGroup
				for i, p := range prompts {
					group.Go(func() {
						var err error
						if answers[i], err = inBatch(b, p, gemma4.Choosing{MaxTokens: 6 + 2*i}); err != nil {
							t.Errorf("prompt %d: %v", i, err)
						}
					})
				}
				group.Wait()
				for i, p := range prompts {
					want := choose(t, s, p, gemma4.Choosing{MaxTokens: 6 + 2*i, Drafts: gemma4.NoDrafts})
					if !nearTie(t, s, p, answers[i], want, tolerance) {
						t.Errorf("prompt %d of %d tokens: %v, alone %v", i, len(p), answers[i], want)
					}
				}
				if stats := b.Stats(); stats.Computed >= stats.Prompts || stats.Running+stats.Waiting != 0 {
					t.Errorf("%+v; wanted shared beginnings to be computed once", stats)
				}
			})
		}
	})
}

// TestBatchOfNano answers the reference's prompts all at once, with its tokens.
func TestBatchOfNano(t *testing.T) {
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		opts.Context = 256
		m := open(t, nanoPath, opts)
		b := newBatch(t, m, gemma4.BatchOptions{Streams: 4})
		var group sync.WaitGroup
		cases, tolerance := conformance.Some(6, readNanoCases(t)...), 1e-4
		if opts.Device == gemma4.DeviceGPU {
			tolerance = 4e-3
		}
		answers := make([][]int32, len(cases))
		for i, c := range cases {
			group.Go(func() {
				got, err := inBatch(b, c.IDs, gemma4.Choosing{MaxTokens: len(c.Greedy)})
				if err != nil {
					t.Errorf("prompt %d: %v", i, err)
				}
				answers[i] = got
			})
		}
		group.Wait()
		s := newSession(t, m, 0)
		for i, c := range cases {
			if !nearTie(t, s, c.IDs, answers[i], c.Greedy, tolerance) {
				t.Errorf("prompt %d: %v; want %v", i, answers[i], c.Greedy)
			}
		}
	})
}

// batchJob is one answer that comes and goes in TestBatchComesAndGoes.
type batchJob struct {
	question string
	opts     gemma4.GenerateOptions
	leave    int           // after so many events; 0 for never
	cancel   time.Duration // 0 for never
}

// TestBatchComesAndGoes has answers begin, end, be left and cancelled at random moments, with
// other settings each, and compares those that end with a session's. Nothing is left over.
func TestBatchComesAndGoes(t *testing.T) {
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		opts.Context = 256
		m := open(t, nanoPath, opts)
		before := runtime.NumGoroutine()
		b := newBatch(t, m, gemma4.BatchOptions{Streams: 5, Prefixes: 2, Piece: 24})
		r := rand.New(rand.NewPCG(3, 9))
		jobs := make([]batchJob, 24)
		questions := []string{"What is the capital of Peru?", "How are you?", "What is 12 + 7?",
			"Name a colour and an animal, and then tell me where they live."}
		for i := range jobs {
			j := &jobs[i]
			j.question = questions[r.IntN(len(questions))]
			j.opts.MaxTokens = 1 + r.IntN(24)
			switch r.IntN(5) {
			case 4: // which no kernel chooses
				j.opts.Sampling = sample.Params{DryMultiplier: 0.8, Temperature: 0.5, Seed: uint64(i)}
			case 0:
				j.opts.Sampling = sample.Params{Temperature: 0.9, TopK: 40, Seed: uint64(i)}
			case 1:
				j.opts.Form, j.opts.MaxTokens = &gemma4.Form{Schema: personSchema}, 100
			case 2:
				j.opts.Sampling = sample.Params{RepetitionPenalty: 1.3, LogProbs: 2}
			}
			switch r.IntN(5) {
			case 0:
				j.leave = 1 + r.IntN(3)
			case 1:
				j.cancel = time.Duration(1+r.IntN(30)) * time.Millisecond
			}
		}
		texts := make([]string, len(jobs))
		var group sync.WaitGroup
		for i, j := range jobs {
			wait := time.Duration(r.IntN(60)) * time.Millisecond
			group.Go(func() {
				time.Sleep(wait)
				var err error
				if texts[i], err = j.run(b); err != nil {
					t.Errorf("answer %d: %v", i, err)
				}
			})
		}
		group.Wait()
		s := newSession(t, m, 0)
		for i, j := range jobs {
			if j.leave > 0 || j.cancel > 0 {
				continue
			}
			j.opts.Drafts = gemma4.NoDrafts
			if want, _ := answer(t, s, user(j.question), j.opts); texts[i] != want {
				t.Errorf("answer %d with %+v: %q, alone %q", i, j.opts, texts[i], want)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if runtime.NumGoroutine() <= before {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%d goroutines after, %d before", n, before)
		}
	})
}

func (j *batchJob) run(b *gemma4.Batch) (text string, err error) {
	ctx := context.Background()
	if j.cancel > 0 {
		var stop func()
		ctx, stop = context.WithTimeout(ctx, j.cancel)
		defer stop()
	}
	events, done := 0, false
	for e, err := range b.Chat(ctx, user(j.question), j.opts) {
		switch {
		case errors.Is(err, context.DeadlineExceeded) && j.cancel > 0:
			return "", nil
		case err != nil:
			return "", err
		}
		text += e.Text
		if events++; events == j.leave {
			return text, nil
		}
		if e.Kind == chat.DoneEvent {
			if done || e.Usage == nil || e.Usage.Answer == 0 {
				return "", fmt.Errorf("a second or empty end: %+v", e.Usage)
			}
			done = true
		}
	}
	if !done {
		return "", errors.New("no end")
	}
	return text, nil
}

// A long prompt does not make those wait who are answered already: they get a token between
// each two of its pieces.
func TestBatchDoesNotWaitForPrompts(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024})
	b := newBatch(t, m, gemma4.BatchOptions{Streams: 2, Piece: 32})
	long := make([]int32, 900)
	for i := range long {
		long[i] = int32(2 + i*37%1500)
	}
	short := gemma4.Tokens(readNanoCases(t)[3].IDs)
	begun, over := make(chan struct{}), make(chan struct{})
	between := 0
	go func() {
		defer close(over)
		started := sync.OnceFunc(func() { close(begun) })
		defer started()
		for _, err := range b.Choose(context.Background(), short,
			gemma4.Choosing{MaxTokens: 200}) {
			if err != nil {
				t.Error(err)
				return
			}
			started()
		}
	}()
	<-begun
	first := b.Stats().Steps
	for _, err := range b.Choose(context.Background(), gemma4.Tokens(long), gemma4.Choosing{MaxTokens: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		between = int(b.Stats().Steps - first)
	}
	<-over
	if pieces := 900 / 32; between < pieces-2 {
		t.Errorf("%d steps while %d pieces of a prompt were computed", between, pieces)
	}
}

func TestBatchRefuses(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 64})
	for _, o := range []gemma4.BatchOptions{{Streams: -1}, {Streams: 65}, {Context: -1}, {Context: 1 << 30}, {Piece: -1},
		{Prefixes: -2}} {
		if b, err := m.NewBatch(o); !errors.Is(err, gemma4.ErrUnsupported) {
			t.Errorf("%+v: %v, %v", o, b, err)
		}
	}
	b := newBatch(t, m, gemma4.BatchOptions{})
	for name, want := range map[string]struct {
		prompt []int32
		is     error
	}{
		"empty": {nil, gemma4.ErrUnsupported}, "too long": {make([]int32, 64), gemma4.ErrContextFull},
		"no such token": {[]int32{2, -1}, gemma4.ErrUnsupported},
	} {
		if _, err := inBatch(b, want.prompt, gemma4.Choosing{}); !errors.Is(err, want.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.Close(); !errors.Is(err, gemma4.ErrBusy) {
		t.Errorf("closing a model with a batch: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := inBatch(b, []int32{2}, gemma4.Choosing{}); !errors.Is(err, gemma4.ErrClosed) {
		t.Errorf("a closed batch: %v", err)
	}
	if err := b.Close(); !errors.Is(err, gemma4.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

// TestPlanCountsABatch asks that a plan counts a batch to the byte before anything is made.
func TestPlanCountsABatch(t *testing.T) {
	o := gemma4.BatchOptions{Streams: 3, Context: 200}
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 256, UncheckedKernels: true, Batch: &o})
	plan := m.Info().Plan
	taken := func() (sum int64) {
		for _, n := range m.GPUMemory() {
			sum += n
		}
		return sum
	}
	before := taken()
	newBatch(t, m, o)
	if got := taken() - before; got != plan.Batch || got == 0 {
		t.Errorf("a batch takes %d bytes, planned were %d", got, plan.Batch)
	}
	if without := plan.Total() - plan.Batch; without <= plan.Weights {
		t.Errorf("%d bytes without it", without)
	}
}
