package gemma4_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// examined are options of a model on the GPU with an examiner of its own.
func examined(e *checkup.Examiner) gemma4.OpenOptions {
	return gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 1024, Kernels: e}
}

// wrong has cases come out wrong that ask for a kernel of one of the files.
func wrong(files ...string) func(context.Context, opstest.Case, *ops.Kit) (float64, error) {
	return func(ctx context.Context, c opstest.Case, kit *ops.Kit) (float64, error) {
		relErr, err := c.Run(ctx, kit)
		for _, k := range c.Kernels(kit) {
			if file, _, _ := strings.Cut(k.Name, "["); slices.Contains(files, file) {
				return 0.5, err
			}
		}
		return relErr, err
	}
}

func TestKernelsAreExaminedOnce(t *testing.T) {
	store := checkup.Store{Folder: t.TempDir(), Version: "v1"}
	told := 0
	options := examined(&checkup.Examiner{Keeper: store})
	options.Progress = func(p gemma4.Progress) {
		if p.Phase == gemma4.PhaseCheck {
			told++
			if p.Done > p.Total {
				t.Errorf("%d of %d kernels", p.Done, p.Total)
			}
		}
	}
	first := open(t, nanoPath, options).Info().Kernels
	if first.Kernels == 0 || first.New < first.Kernels || told == 0 || len(first.LeftOut) > 0 || first.NotKept != "" {
		t.Fatalf("%+v, told %d times", first, told)
	}
	if again := open(t, nanoPath, options).Info().Kernels; again.New != 0 || again.Kernels != first.Kernels {
		t.Errorf("the second time: %+v", again)
	}
	store.Version = "v2"
	options.Kernels = &checkup.Examiner{Keeper: store}
	if other := open(t, nanoPath, options).Info().Kernels; other.New != first.New {
		t.Errorf("with another version: %+v", other)
	}
}

// TestEveryKernelWasExamined answers in all ways, and asks that no kernel is compiled for
// that which was not examined.
func TestEveryKernelWasExamined(t *testing.T) {
	store := checkup.Store{Folder: t.TempDir(), Version: "v1"}
	m := open(t, nanoPath, examined(&checkup.Examiner{Keeper: store}))
	known := store.Load(m.Kit().Device().Info())
	stop := m.Kit().Device().TraceKernels()
	s := newSession(t, m, 0)
	ctx := context.Background()
	prompt := make([]int32, 600) // more than a chunk
	for i := range prompt {
		prompt[i] = int32(2 + i%700)
	}
	greedy(t, s, prompt, 6)
	if err := s.Logits(ctx, gemma4.Tokens(prompt[:70]), func(int, []float32) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Choose(ctx, gemma4.Tokens(prompt[:90]), gemma4.Choosing{
		MaxTokens: 4, Sampling: sample.Params{Temperature: 1, TopK: 20, Seed: 3}}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	constraint, err := m.Constraint(ctx, gemma4.Form{Choices: []string{"yes", "no"}})
	if err != nil {
		t.Fatal(err)
	}
	masked := gemma4.Choosing{MaxTokens: 3, Constraint: constraint}
	for _, err := range s.Choose(ctx, gemma4.Tokens(prompt[:20]), masked) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range stop() {
		if !slices.Contains(known.Right, k) {
			t.Errorf("%s was not examined", k.Name)
		}
	}
}

func TestWrongKernelsAreLeftOut(t *testing.T) {
	conformance.Long(t)
	prompt := []int32{2, 700, 41, 30, 20, 9, 8, 7}
	cpu := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 256})
	want := greedy(t, newSession(t, cpu, 0), prompt, 8)
	store := checkup.Store{Folder: t.TempDir(), Version: "v1"}
	for i, run := range []func(context.Context, opstest.Case, *ops.Kit) (float64, error){
		wrong("matvec.wgsl", "matvec_large.wgsl"), nil, // the second time, it is known
	} {
		m := open(t, nanoPath, examined(&checkup.Examiner{Keeper: store, Run: run}))
		found := m.Info().Kernels
		if len(found.LeftOut) == 0 || !strings.HasPrefix(found.LeftOut[0].Kernel, "matvec") || i == 1 && found.New > 0 {
			t.Fatalf("opening %d: %+v", i, found)
		}
		if got := greedy(t, newSession(t, m, 0), prompt, 8); !slices.Equal(got, want) {
			t.Errorf("opening %d: %v, want %v", i, got, want)
		}
	}
}

func TestNoRightKernel(t *testing.T) {
	source, err := gguf.OpenFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gemma4.Open(context.Background(), source, examined(&checkup.Examiner{Run: wrong("embed.wgsl")}))
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err == nil {
		_ = m.Close()
		t.Fatal("a model without right kernels opens")
	}
	if !errors.Is(err, checkup.ErrNoVariant) || !errors.Is(err, wgslkit.ErrBrokenKernel) ||
		!strings.Contains(err.Error(), `device "cpu"`) || strings.Contains(err.Error(), "not released") {
		t.Error(err)
	}
}

func TestExaminationEnds(t *testing.T) {
	source, err := gguf.OpenFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options := examined(&checkup.Examiner{})
	options.Progress = func(p gemma4.Progress) {
		if p.Phase == gemma4.PhaseCheck && p.Done > 0 {
			cancel()
		}
	}
	m, err := gemma4.Open(ctx, source, options)
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err == nil {
		_ = m.Close()
	}
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "not released") {
		t.Errorf("cancelled: %v", err)
	}
}

func TestUncheckedKernels(t *testing.T) {
	options := examined(&checkup.Examiner{Run: wrong("embed.wgsl")})
	options.UncheckedKernels = true
	if m := open(t, nanoPath, options); m.Info().Kernels != nil {
		t.Errorf("%+v", m.Info().Kernels)
	}
}

// TestAssistantsKernelsAreExamined attaches an assistant: it adds kernels, each of them right on
// its cases; where one is wrong that it needs, it is refused, and the model stays as it is.
func TestAssistantsKernelsAreExamined(t *testing.T) {
	conformance.OnlyInAll(t)
	conformance.Long(t)
	raw, err := os.ReadFile(assistantPath)
	if err != nil {
		t.Fatal(err)
	}
	store := checkup.Store{Folder: t.TempDir(), Version: "v1"}
	heard := 0
	options := examined(&checkup.Examiner{Keeper: store})
	options.Examined = func(f *checkup.Findings) { heard = f.Kernels }
	m := open(t, targetPath, options)
	alone := m.Info().Kernels.Kernels
	if heard != alone {
		t.Errorf("%d kernels were told of, %d are known", heard, alone)
	}
	if err := m.AttachAssistant(context.Background(), memoryFile(t, raw), gemma4.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	if with := m.Info().Kernels; with.Kernels <= alone || len(with.LeftOut) > 0 || heard != with.Kernels {
		t.Errorf("%d kernels without it, %+v with it, told of %d", alone, with, heard)
	}
	broken := open(t, targetPath, examined(&checkup.Examiner{Run: wrong("rotate.wgsl")}))
	err = broken.AttachAssistant(context.Background(), memoryFile(t, raw), gemma4.OpenOptions{})
	if !errors.Is(err, checkup.ErrNoVariant) || broken.Info().Assistant != "" {
		t.Errorf("with a kernel that computes wrongly: %v", err)
	}
}

// TestBatchesKernelsAreExamined makes a batch: no kernel answers in it that was not examined.
// Where one is wrong that it needs, there is no batch, and sessions answer.
func TestBatchesKernelsAreExamined(t *testing.T) {
	conformance.OnlyInAll(t)
	store := checkup.Store{Folder: t.TempDir(), Version: "v1"}
	m := open(t, nanoPath, examined(&checkup.Examiner{Keeper: store}))
	alone := m.Info().Kernels.Kernels
	stop := m.Kit().Device().TraceKernels()
	b := newBatch(t, m, gemma4.BatchOptions{Streams: 3})
	if with := m.Info().Kernels; with.Kernels <= alone || len(with.LeftOut) > 0 {
		t.Errorf("%d kernels without a batch, %+v with one", alone, with)
	}
	prompt := make([]int32, 300)
	for i := range prompt {
		prompt[i] = int32(2 + i%700)
	}
	constraint, err := m.Constraint(context.Background(), gemma4.Form{Choices: []string{"yes", "no"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []gemma4.Choosing{
		{MaxTokens: 6}, {MaxTokens: 3, Constraint: constraint},
		{MaxTokens: 4, Sampling: sample.Params{Temperature: 1, TopK: 20, Seed: 3}},
	} {
		if _, err := inBatch(b, prompt, c); err != nil {
			t.Fatal(err)
		}
	}
	known := store.Load(m.Kit().Device().Info())
	for _, k := range stop() {
		if !slices.Contains(known.Right, k) {
			t.Errorf("%s was not examined", k.Name)
		}
	}
}

func TestNoBatchWithWrongKernels(t *testing.T) {
	conformance.OnlyInAll(t)
	conformance.Long(t)
	apart := func(ctx context.Context, c opstest.Case, kit *ops.Kit) (float64, error) {
		relErr, err := c.Run(ctx, kit)
		for _, k := range c.Kernels(kit) {
			if strings.Contains(k.Name, "APART") {
				return 0.5, err
			}
		}
		return relErr, err
	}
	m := open(t, nanoPath, examined(&checkup.Examiner{Run: apart}))
	b, err := m.NewBatch(gemma4.BatchOptions{Streams: 3})
	if err == nil {
		_ = b.Close()
		t.Fatal("there is a batch without right kernels")
	}
	if !errors.Is(err, checkup.ErrNoVariant) || !strings.Contains(err.Error(), "one at a time") {
		t.Error(err)
	}
	greedy(t, newSession(t, m, 0), []int32{2, 700, 41, 30, 20, 9, 8, 7}, 4)
}
