package finetune_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf/conformance"
)

// Examples are taken three times as they are. Then their questions lose words, others
// each time, and a run that is resumed among those goes on as it would have.
func TestWordDropout(t *testing.T) {
	conformance.Long(t)
	model := openNano(t, gemma4.DeviceCPU)
	data := finetune.Data{Train: examples(t, model, facts)}
	config := small(6)
	config.Batching.Examples = 3 // a step is an epoch
	run := func(dropout float64) []float64 {
		c := config
		c.WordDropout = dropout
		return losses(t, newTrainer(t, model, data, c), 0)
	}
	whole, some, more := run(finetune.NoWordDropout), run(0), run(0.8) // none, 0.4, 0.8
	if !slices.Equal(whole[:3], some[:3]) || !slices.Equal(whole[:3], more[:3]) {
		t.Errorf("the first three losses are %v with all words, %v and %v without some", whole[:3], some[:3], more[:3])
	}
	if whole[3] == some[3] || some[3] == more[3] || whole[3] == more[3] {
		t.Errorf("the fourth loss is %v with all words, %v and %v without some", whole[3], some[3], more[3])
	}

	first := newTrainer(t, model, data, config)
	losses(t, first, 4)
	path := filepath.Join(t.TempDir(), "run.safetensors")
	if err := first.SaveCheckpoint(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	second, err := finetune.ResumeFile(t.Context(), model, data, path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if rest := losses(t, second, 0); !slices.Equal(rest, some[4:]) {
		t.Errorf("resumed, the last losses are %v, wanted %v", rest, some[4:])
	}

	config.WordDropout = 1
	if _, err := finetune.New(t.Context(), model, data, config); !errors.Is(err, finetune.ErrConfig) {
		t.Errorf("no words left: %v", err)
	}
}
