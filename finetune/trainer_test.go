package finetune_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/schedule"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf"
)

var nanoPath = filepath.Join("..", "testdata", "conformance", "nano", "nano.gguf")

func openNano(t testing.TB, device gemma4.Device) *gemma4.Model {
	t.Helper()
	source, err := gguf.OpenFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	model, err := gemma4.Open(t.Context(), source, gemma4.OpenOptions{Device: device, Context: 512})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	return model
}

func examples(t testing.TB, model *gemma4.Model, lines string) []dataset.Example {
	t.Helper()
	records, _, err := dataset.Read(t.Context(), strings.NewReader(lines), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []dataset.Example
	for _, r := range records {
		e, err := dataset.Encode(t.Context(), model, r, dataset.EncodeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e...)
	}
	return all
}

const facts = `{"prompt": "Who made gemwire?", "completion": "A small team."}
{"prompt": "What is gemwire?", "completion": "A way to run Gemma."}
{"prompt": "What is the colour of gemwire?", "completion": "Green."}
`

// small is a run that takes little time.
func small(steps int) finetune.Config {
	return finetune.Config{
		Rank: 4, Steps: steps, Seed: 7,
		Linears:  []adapter.Linear{adapter.Q, adapter.V, adapter.Down},
		Schedule: schedule.Schedule{Kind: schedule.Linear, Peak: 5e-3},
		Batching: dataset.Batching{Examples: 2},
	}
}

// losses runs a trainer to its end, or for so many steps.
func losses(t testing.TB, trainer *finetune.Trainer, steps int) []float64 {
	t.Helper()
	var all []float64
	for e, err := range trainer.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, e.Loss); len(all) == steps {
			break
		}
	}
	return all
}

func newTrainer(t testing.TB, model *gemma4.Model, data finetune.Data, config finetune.Config) *finetune.Trainer {
	t.Helper()
	trainer, err := finetune.New(t.Context(), model, data, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trainer.Close() })
	return trainer
}

// A run that is stopped after any step and resumed goes on as it would have.
func TestResume(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	data := finetune.Data{Train: examples(t, model, facts)}
	held := data
	held.Rehearsed = rehearsed(t, model, 3)
	whole := losses(t, newTrainer(t, model, held, small(6)), 0)
	if len(whole) != 6 || whole[5] >= whole[0] {
		t.Fatalf("losses %v", whole)
	}
	path := filepath.Join(t.TempDir(), "run.safetensors")
	for _, at := range []int{1, 3, 5} {
		first := newTrainer(t, model, held, small(6))
		losses(t, first, at)
		if err := first.SaveCheckpoint(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		second, err := finetune.ResumeFile(t.Context(), model, data, path)
		if err != nil {
			t.Fatal(err)
		}
		defer second.Close()
		for i, loss := range losses(t, second, 0) {
			if want := whole[at+i]; math.Abs(loss-want) > 1e-6*want {
				t.Errorf("resumed after %d steps, step %d has a loss of %v, wanted %v", at, at+i+1, loss, want)
			}
		}
		if second.Done() != 6 {
			t.Errorf("resumed after %d steps, the run ends after %d", at, second.Done())
		}
	}
}

// A checkpoint that is cut short anywhere, or of another run, is refused.
func TestDamagedCheckpoint(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	data := finetune.Data{Train: examples(t, model, facts)}
	trainer := newTrainer(t, model, data, small(2))
	var b bytes.Buffer
	if err := trainer.WriteCheckpoint(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	resume := func(data finetune.Data, bytesOf []byte) error {
		trainer, err := finetune.Resume(t.Context(), model, data, bytes.NewReader(bytesOf), int64(len(bytesOf)))
		if err == nil {
			trainer.Close()
		}
		return err
	}
	if err := resume(data, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 4, 100, b.Len() / 2, b.Len() - 1} {
		if err := resume(data, b.Bytes()[:n]); !errors.Is(err, finetune.ErrCheckpoint) {
			t.Errorf("the first %d bytes of %d: %v", n, b.Len(), err)
		}
	}
	for at := 0; at < b.Len(); at += b.Len()/50 + 1 {
		flipped := bytes.Clone(b.Bytes())
		flipped[at] ^= 1 << (at % 8)
		if err := resume(data, flipped); !errors.Is(err, finetune.ErrCheckpoint) {
			t.Errorf("a bit of byte %d of %d flipped: %v", at, b.Len(), err)
		}
	}
	other := finetune.Data{Train: data.Train[:2]}
	if err := resume(other, b.Bytes()); !errors.Is(err, finetune.ErrCheckpoint) {
		t.Errorf("other examples: %v", err)
	}
}

// A checkpoint is of one model's weights, not of all of the same shapes.
func TestCheckpointOfOtherWeights(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	var b bytes.Buffer
	trainer := newTrainer(t, model, finetune.Data{Train: examples(t, model, facts)}, small(2))
	if err := trainer.WriteCheckpoint(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	down, ok := model.File().Tensor("blk.2.ffn_down.weight")
	if !ok {
		t.Fatal("no such tensor")
	}
	raw[down.Offset+down.Size/2] ^= 1
	other, err := gemma4.Open(t.Context(), gguf.Memory(raw), gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	data := finetune.Data{Train: examples(t, other, facts)}
	_, err = finetune.Resume(t.Context(), other, data, bytes.NewReader(b.Bytes()), int64(b.Len()))
	if !errors.Is(err, finetune.ErrCheckpoint) {
		t.Errorf("error %v, want ErrCheckpoint", err)
	}
}

// A model stays open as long as a run computes with its weights.
func TestModelOutlivesItsTrainer(t *testing.T) {
	source, err := gguf.OpenFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	model, err := gemma4.Open(t.Context(), source, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := finetune.New(t.Context(), model, finetune.Data{Train: examples(t, model, facts)}, small(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Close(); !errors.Is(err, gemma4.ErrBusy) {
		t.Errorf("closed under a trainer: %v, want ErrBusy", err)
	}
	if err := errors.Join(trainer.Close(), model.Close()); err != nil {
		t.Error(err)
	}
}

// Whatever goes wrong while a checkpoint is written, the last good one stays.
func TestCheckpointIsReplacedAsAWhole(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	trainer := newTrainer(t, model, finetune.Data{Train: examples(t, model, facts)}, small(2))
	folder := t.TempDir()
	path := filepath.Join(folder, "run.safetensors")
	if err := os.WriteFile(path, []byte("the last good one"), 0o644); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o700)
	if os.Getuid() != 0 { // nothing is forbidden to root
		if err := trainer.SaveCheckpoint(cancelled, path); err == nil {
			t.Error("written into a folder that takes nothing")
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "the last good one" {
		t.Errorf("%q, %v", data, err)
	}
}

// A gradient over several batches is that of one batch with all their examples.
func TestAccumulation(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	data := finetune.Data{Train: examples(t, model, facts)}
	together, apart := small(3), small(3)
	together.Batching.Examples = 3
	apart.Batching.Examples, apart.Accumulate = 1, 3
	want := losses(t, newTrainer(t, model, data, together), 0)
	for i, loss := range losses(t, newTrainer(t, model, data, apart), 0) {
		if math.Abs(loss-want[i]) > 1e-4*want[i] {
			t.Errorf("step %d has a loss of %v, wanted %v", i+1, loss, want[i])
		}
	}
}

// Recomputing changes what is kept, not what comes out.
func TestRecompute(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	data := finetune.Data{Train: examples(t, model, facts)}
	keep := newTrainer(t, model, data, small(2))
	config := small(2)
	config.Recompute = true
	again := newTrainer(t, model, data, config)
	want := losses(t, keep, 0)
	for i, loss := range losses(t, again, 0) {
		if loss != want[i] {
			t.Errorf("step %d has a loss of %v, wanted %v", i+1, loss, want[i])
		}
	}
	if a, b := keep.Plan().Bytes, again.Plan().Bytes; b >= a {
		t.Errorf("%d bytes where all is kept, %d where layers are computed again", a, b)
	}
}

// A run keeps to its memory: layers are computed again, then batches take fewer
// examples, and one example that takes more is refused.
func TestMemoryBudget(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	data := finetune.Data{Train: examples(t, model, facts)}
	config := small(2)
	config.Batching.Examples = 3
	free := newTrainer(t, model, data, config)
	want := losses(t, free, 0)
	config.MemoryBudget = free.Plan().Bytes - 1
	again := newTrainer(t, model, data, config)
	if p := again.Plan(); p.Bytes > config.MemoryBudget || p.Recomputed == 0 ||
		again.Config().Batching != free.Config().Batching {
		t.Errorf("with %d bytes: %+v, %+v", config.MemoryBudget, p, again.Config().Batching)
	}
	for i, loss := range losses(t, again, 0) {
		if loss != want[i] {
			t.Errorf("step %d has a loss of %v, wanted %v", i+1, loss, want[i])
		}
	}
	config.MemoryBudget = again.Plan().Bytes - 1
	fewer := newTrainer(t, model, data, config)
	if p := fewer.Plan(); p.Bytes > config.MemoryBudget ||
		fewer.Config().Batching.Tokens >= again.Config().Batching.Tokens {
		t.Errorf("with %d bytes: %+v, %+v", config.MemoryBudget, p, fewer.Config().Batching)
	}
	config.MemoryBudget = 1 << 16
	if _, err := finetune.New(t.Context(), model, data, config); !errors.Is(err, finetune.ErrConfig) {
		t.Errorf("of %d bytes: %v", config.MemoryBudget, err)
	}
}

// What is held out is looked at, and a run that no longer helps it ends.
func TestEarlyStop(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	data := finetune.Data{
		Train: examples(t, model, facts),
		HeldOut: examples(t, model, `{"prompt": "What is the capital of France?", "completion": "Paris is the capital `+
			`of France."}`),
	}
	config := small(40)
	config.EvaluateEvery, config.Patience = 1, 2
	config.Schedule.Peak = 2e-2
	trainer := newTrainer(t, model, data, config)
	var last finetune.Event
	for e, err := range trainer.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if last = e; e.HeldOutLoss == nil {
			t.Fatalf("step %d did not look", e.Step)
		}
	}
	if !last.Stopped || last.Step == 40 {
		t.Errorf("the run ended after step %d, stopped: %t", last.Step, last.Stopped)
	}
}

func TestRefusedConfigs(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	data := finetune.Data{Train: examples(t, model, facts)}
	for name, spoil := range map[string]func(*finetune.Config){
		"a rank below zero":  func(c *finetune.Config) { c.Rank = -1 },
		"no such layer":      func(c *finetune.Config) { c.Layers = []int{99} },
		"no layer":           func(c *finetune.Config) { c.Layers = []int{} },
		"negative steps":     func(c *finetune.Config) { c.Steps = -1 },
		"epochs without end": func(c *finetune.Config) { c.Epochs, c.Steps = 1_000_000_000, 0 },
		"steps without end":  func(c *finetune.Config) { c.Steps = 1_000_000_000 },
		"no batch to a step": func(c *finetune.Config) { c.Accumulate = -1 },
		"a rate above all":   func(c *finetune.Config) { c.Schedule.Peak = 2 },
		"no such schedule":   func(c *finetune.Config) { c.Schedule.Kind = "steep" },
	} {
		c := small(2)
		spoil(&c)
		trainer, err := finetune.New(t.Context(), model, data, c)
		if err == nil {
			trainer.Close()
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := finetune.New(t.Context(), model, finetune.Data{}, small(2)); !errors.Is(err, finetune.ErrConfig) {
		t.Errorf("no examples: %v", err)
	}
}
