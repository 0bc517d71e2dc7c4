package finetune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/schedule"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
)

// Config says what is trained and how. The zero value is a good start: rank 16
// on all linears of all layers, AdamW, three epochs, a rate of 2e-4 that falls
// along a cosine after a warm-up over a twentieth of the steps.
type Config struct {
	Rank    int              `json:"rank"`
	Alpha   float64          `json:"alpha"`            // 0 means twice the rank
	Linears []adapter.Linear `json:"linears"`          // nil means all
	Layers  []int            `json:"layers,omitempty"` // nil means all

	Epochs     int              `json:"epochs"`
	Steps      int              `json:"steps,omitempty"` // instead of Epochs
	Batching   dataset.Batching `json:"batching"`
	Accumulate int              `json:"accumulate"` // batches to a step

	Optimizer *optimizer.AdamW  `json:"optimizer"`
	Schedule  schedule.Schedule `json:"schedule"` // its Steps are filled in

	// Seed fixes the first A and the order of the examples.
	Seed uint64 `json:"seed"`
	// EvaluateEvery is how many steps lie between two looks at the examples that
	// were held out; 0 means at the end of each epoch.
	EvaluateEvery int `json:"evaluateEvery,omitempty"`
	// Patience ends a run after so many looks in a row that were no better than
	// the best; 0 means never.
	Patience int `json:"patience,omitempty"`
	// Recompute says that what a layer computes on its way is computed again for
	// the way back instead of kept.
	Recompute bool `json:"recompute,omitempty"`
}

// DefaultRate is the learning rate where none is said.
const DefaultRate = 2e-4

// filled is the config with its defaults.
func (c Config) filled() Config {
	c.Rank = cmp.Or(c.Rank, 16)
	c.Alpha = cmp.Or(c.Alpha, 2*float64(c.Rank))
	if c.Linears == nil {
		c.Linears = adapter.All()
	}
	if c.Steps == 0 {
		c.Epochs = cmp.Or(c.Epochs, 3)
	}
	c.Batching.Examples = cmp.Or(c.Batching.Examples, 8)
	c.Batching.Tokens = cmp.Or(c.Batching.Tokens, 2048)
	c.Batching.Seed = c.Seed
	c.Accumulate = cmp.Or(c.Accumulate, 1)
	if c.Optimizer == nil {
		o := optimizer.Default()
		c.Optimizer = &o
	}
	c.Schedule.Kind = cmp.Or(c.Schedule.Kind, schedule.Cosine)
	c.Schedule.Peak = cmp.Or(c.Schedule.Peak, DefaultRate)
	c.Schedule.Cycles = cmp.Or(c.Schedule.Cycles, 1)
	return c
}

func (c *Config) check() error {
	switch {
	case c.Rank < 1 || c.Rank > 1024:
		return fmt.Errorf("%w: a rank of %d; 4 to 64 are usual", ErrConfig, c.Rank)
	case !(c.Alpha > 0) || math.IsInf(c.Alpha, 0):
		return fmt.Errorf("%w: an alpha of %v; twice the rank is usual", ErrConfig, c.Alpha)
	case c.Epochs < 0 || c.Steps < 0 || c.Accumulate < 1 || c.EvaluateEvery < 0 || c.Patience < 0:
		return fmt.Errorf("%w: %d epochs, %d steps, %d batches to a step, an evaluation every %d steps, a patience of %d: none may be negative",
			ErrConfig, c.Epochs, c.Steps, c.Accumulate, c.EvaluateEvery, c.Patience)
	}
	return c.Schedule.Check()
}

// targets are the linears that get a pair: those of Linears that the layers have.
func (c *Config) targets(model *arch.Model) ([]adapter.Target, error) {
	var targets []adapter.Target
	for i := range model.Layers {
		if c.Layers != nil && !slices.Contains(c.Layers, i) {
			continue
		}
		for _, l := range c.Linears {
			if l.Tensor(&model.Layers[i]) != nil {
				targets = append(targets, adapter.Target{Layer: i, Linear: l})
			}
		}
	}
	for _, i := range c.Layers {
		if i < 0 || i >= len(model.Layers) {
			return nil, fmt.Errorf("%w: layer %d; the model has layers 0 to %d", ErrConfig, i, len(model.Layers)-1)
		}
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("%w: no linear to train is chosen", ErrConfig)
	}
	return targets, nil
}
