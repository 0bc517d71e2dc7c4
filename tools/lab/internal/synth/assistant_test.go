package synth

import (
	"context"
	"errors"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// Each shape's assistant goes with it, by the sizes in the headers.
func TestAssistantsFitTheirModels(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			target, assistant := shape(t, name, 0, 2048), shape(t, name+AssistantSuffix, 0, 2048)
			m, err := arch.Open(openHead(t, Options{Shape: target}))
			if err != nil {
				t.Fatal(err)
			}
			a, err := arch.OpenAssistant(openHead(t, Options{Shape: assistant}), m)
			if err != nil {
				t.Fatal(err)
			}
			if n := a.Decoder.Config.Blocks; n != assistant.Assistant.Layers || a.Decoder.Config.IsSliding(n-1) {
				t.Errorf("%d layers", n)
			}
			if (a.Clusters != nil) != (assistant.Assistant.Clusters > 0) {
				t.Errorf("clusters %v", a.Clusters)
			}
		})
	}
	if _, err := Named("e3b" + AssistantSuffix); !errors.Is(err, ErrShape) {
		t.Errorf("of no shape: %v", err)
	}
}

// openHead opens what is written with two tensors' weights, and without the others.
func openHead(t *testing.T, o Options) *gguf.File {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reports := 0
	o.Progress = func(int64, int64) {
		if reports++; reports == 2 {
			cancel()
		}
	}
	var w headWriter
	summary, err := Write(ctx, &w, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.size = int64(len(w.head)) + summary.Bytes + 32*int64(summary.Tensors)
	file, err := gguf.Open(context.Background(), &w)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAssistantGuesses(t *testing.T) {
	raw, _ := write(t, Options{Shape: shape(t, "nano", 0, 0), Seed: 3})
	m, err := gemma4.Open(context.Background(), gguf.Memory(raw), gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	raw, summary := write(t, Options{Shape: shape(t, "nano"+AssistantSuffix, 2, 0), Seed: 3})
	if summary.Layers != 2 || summary.Types["I32"].Tensors != 1 {
		t.Errorf("wrote %+v", summary)
	}
	file, err := gguf.Open(context.Background(), gguf.Memory(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.AttachAssistant(context.Background(), file, gemma4.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(64)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var usage gemma4.Usage
	for _, err := range s.Choose(context.Background(), gemma4.Tokens([]int32{2, 9, 70}),
		gemma4.Choosing{MaxTokens: 8, Usage: &usage}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if usage.Assisted == 0 {
		t.Errorf("usage %+v", usage)
	}
}
