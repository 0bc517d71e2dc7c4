package finetune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/finetune/dataset"
)

// What is planned for so many lines of 30 tokens where nobody says anything, as
// defaults.go has it.
func TestDefaults(t *testing.T) {
	for _, c := range []struct{ lines, batch, epochs, steps, heldOut int }{
		{1, 1, 100, 100, 0},
		{5, 1, 80, 400, 0},
		{20, 2, 40, 400, 0},
		{200, 8, 16, 400, 0},
		{499, 8, 7, 441, 0},
		{500, 8, 7, 420, 25},
		{5000, 8, 3, 1782, 250},
	} {
		t.Run(fmt.Sprint(c.lines), func(t *testing.T) {
			train, held := dataset.HoldOut(c.lines, DefaultHeldOut(c.lines))
			examples := examplesOf(slices.Repeat([]int{30}, len(train))...)
			trainer := &Trainer{config: Config{}.filled(len(train)), data: Data{Train: examples}}
			if err := trainer.begin(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			epochs := epochsFor(trainer.order.stepsOf(0))
			steps, err := trainer.order.steps(t.Context(), epochs)
			if err != nil {
				t.Fatal(err)
			}
			got := []int{trainer.config.Batching.Examples, epochs, steps, len(held)}
			if want := []int{c.batch, c.epochs, c.steps, c.heldOut}; !slices.Equal(got, want) {
				t.Errorf("batch, epochs, steps, held out: %v, wanted %v", got, want)
			}
		})
	}
}

// Where the steps are said, small batches would only see less.
func TestDefaultBatchOfSteps(t *testing.T) {
	if got := (Config{Steps: 25}).filled(5).Batching.Examples; got != 8 {
		t.Errorf("batches of %d, wanted 8", got)
	}
}

// A count of steps that would take hours ends with its context, and one that no run may
// make is refused before.
func TestCountingSteps(t *testing.T) {
	count := func(ctx context.Context, epochs int) error {
		trainer := &Trainer{config: Config{Epochs: epochs, Batching: dataset.Batching{Examples: 1}}.filled(1000),
			data: Data{Train: examplesOf(slices.Repeat([]int{30}, 1000)...)}}
		if err := trainer.begin(context.Background(), 0); err != nil {
			return err
		}
		return trainer.countSteps(ctx)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := count(ended, 10_000); !errors.Is(err, context.Canceled) {
		t.Errorf("a count that nobody waits for: %v", err)
	}
	if err := count(t.Context(), 10_001); !errors.Is(err, ErrConfig) {
		t.Errorf("more steps than a run may have: %v", err)
	}
	o := newOrder(examplesOf(1, 2, 3), &Config{Accumulate: 1})
	if err := o.skip(ended, math.MaxInt); !errors.Is(err, context.Canceled) {
		t.Errorf("steps that are passed over: %v", err)
	}
}
