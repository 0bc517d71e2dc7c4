package finetune_test

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
)

// onGPU opens nano on the GPU; the test is skipped where there is none.
func onGPU(t *testing.T) *gemma4.Model {
	t.Helper()
	if dev, err := wgslkit.Open(wgslkit.Options{}); errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	} else if err == nil {
		dev.Close()
	}
	return openNano(t, gemma4.DeviceGPU)
}

// The GPU makes the steps that the CPU makes, and a run that is stopped goes on as
// it would have; what it takes is given back.
func TestOnGPU(t *testing.T) {
	model := onGPU(t)
	device := model.Kit().Device()
	before := device.Buffers()
	data := finetune.Data{Train: examples(t, model, facts)}
	data.HeldOut = data.Train[:1]
	onCPU := losses(t, newTrainer(t, openNano(t, gemma4.DeviceCPU), data, small(4)), 0)
	first := newTrainer(t, model, data, small(4))
	if p := first.Plan(); p.Bytes == 0 || p.Recomputed != 0 {
		t.Errorf("a plan of %d bytes with %d layers computed again", p.Bytes, p.Recomputed)
	}
	got := losses(t, first, 2)
	path := filepath.Join(t.TempDir(), "run.safetensors")
	if err := first.SaveCheckpoint(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	rest := losses(t, first, 0)
	second, err := finetune.ResumeFile(t.Context(), model, data, path)
	if err != nil {
		t.Fatal(err)
	}
	for i, loss := range losses(t, second, 0) {
		if math.Abs(loss-rest[i]) > 1e-6*rest[i] {
			t.Errorf("resumed, step %d has a loss of %v, wanted %v", i+3, loss, rest[i])
		}
	}
	for i, loss := range append(got, rest...) {
		if math.Abs(loss-onCPU[i]) > 1e-3*onCPU[i] {
			t.Errorf("step %d has a loss of %v, on the CPU %v", i+1, loss, onCPU[i])
		}
	}
	first.Close()
	second.Close()
	if after := device.Buffers(); after != before {
		t.Errorf("%d buffers left behind", after-before)
	}
}

// A device that binds little memory at once computes the same steps.
func TestSmallBindings(t *testing.T) {
	free := onGPU(t)
	source, err := gguf.OpenFile(filepath.Join("..", "testdata", "conformance", "nano", "nano.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	narrow := wgslkit.Options{MaxBindingSize: 512 << 10}
	model, err := gemma4.Open(t.Context(), source,
		gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 64, GPU: narrow})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	config := small(1)
	config.Batching.Examples = 9
	data := finetune.Data{Train: examples(t, free, facts+facts+facts)}
	trainer := newTrainer(t, model, data, config)
	defer trainer.Close()
	want := losses(t, newTrainer(t, free, data, config), 0)
	for i, loss := range losses(t, trainer, 0) {
		if math.Abs(loss-want[i]) > 1e-5*want[i] {
			t.Errorf("step %d has a loss of %v, wanted %v", i+1, loss, want[i])
		}
	}
	if took, had := trainer.Config().Batching, config.Batching.Examples; took.Examples != had || took.Tokens < 200 {
		t.Errorf("batches of up to %+v", took)
	}
}
