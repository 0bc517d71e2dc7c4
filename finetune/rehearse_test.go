package finetune_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4"
)

func rehearsed(t testing.TB, model *gemma4.Model, conversations int) []dataset.Example {
	t.Helper()
	kept, err := finetune.Rehearse(t.Context(), model, finetune.Rehearsal{Conversations: conversations, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// What a model makes up says what it would answer, and how surely.
func TestRehearse(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	kept := rehearsed(t, model, 6)
	if len(kept) < 4 || !reflect.DeepEqual(kept, rehearsed(t, model, 6)) {
		t.Fatalf("%d conversations, or others with the same seed", len(kept))
	}
	for _, e := range kept {
		for i, shares := range e.Shares {
			if len(shares) == 0 {
				continue
			}
			var sum float64
			for _, s := range shares {
				sum += float64(s.Part)
			}
			if math.Abs(sum-1) > 1e-5 || shares[0].Token != e.Targets[i] || e.Tokens[i+1].ID != e.Targets[i] {
				t.Errorf("position %d: shares %v, target %d, %d follows", i, shares, e.Targets[i], e.Tokens[i+1].ID)
			}
		}
	}
}

// A model that learns with all its might keeps nearer to what it was where it is held.
func TestKept(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	data := finetune.Data{Train: examples(t, model, facts), Rehearsed: rehearsed(t, model, 4)}
	drift := func(weight float64) (first, last float64) {
		config := small(12)
		config.Keep, config.Batching.Examples = weight, 4
		for e, err := range newTrainer(t, model, data, config).Run(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Step == 1 {
				first = e.Divergence
			}
			last = e.Divergence
		}
		return first, last
	}
	first, held := drift(3)
	_, loose := drift(1e-6)
	if first < -1e-3 || first > 0.05 {
		t.Errorf("before anything was learnt, the model is %v from itself", first)
	}
	if !(held < loose/2) {
		t.Errorf("held, the model moves by %v, else by %v", held, loose)
	}
}

func TestRehearseWithAdapter(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	use(t, model, newTrainer(t, model, finetune.Data{Train: examples(t, model, facts)}, small(1)))
	if _, err := finetune.Rehearse(t.Context(), model, finetune.Rehearsal{}); !errors.Is(err, finetune.ErrConfig) {
		t.Errorf("with an adapter in use: %v", err)
	}
}
