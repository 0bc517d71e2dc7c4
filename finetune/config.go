package finetune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/gpu"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/schedule"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
)

// Config says what is trained and how. The zero value is a good start: rank 16
// on all linears of all layers, AdamW, batches and epochs that suit the number of
// examples, and a rate that suits the model's width and falls along a cosine after a
// warm-up over a twentieth of the steps.
type Config struct {
	Rank    int              `json:"rank"`
	Alpha   float64          `json:"alpha"`            // 0 means twice the rank
	Linears []adapter.Linear `json:"linears"`          // nil means all
	Layers  []int            `json:"layers,omitempty"` // nil means all

	Epochs     int              `json:"epochs"`          // 0 means 3, or up to 100 that make 400 steps
	Steps      int              `json:"steps,omitempty"` // instead of Epochs
	Batching   dataset.Batching `json:"batching"`        // Examples: 0 means a tenth, 1 to 8; 8 with Steps
	Accumulate int              `json:"accumulate"`      // batches to a step

	Optimizer *optimizer.AdamW  `json:"optimizer"`
	Schedule  schedule.Schedule `json:"schedule"` // its Steps are filled in

	// Keep is the weight of what the model is held to (Data.Rehearsed) beside that of the
	// examples; 0 means 1.
	Keep float64 `json:"keep"`
	// WordDropout is the part of a question's words that is left out or replaced, by
	// chance, each time that an example is seen again after the third, so that answers
	// hang less on how is asked. Words that the answer says stay, and examples that are
	// held out lose nothing. 0 means DefaultWordDropout; below 0, as NoWordDropout is,
	// all stay.
	WordDropout float64 `json:"wordDropout"`
	// Seed fixes the first A, the order of the examples and the words they lose.
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
	// Precision says how what a layer computes waits for the way back on a GPU: "f32"
	// as it is, "f16" as halves with a factor for each position, "" as halves where
	// memory is short. It is computed in float32 either way, gradients too, so that
	// losses need no scale. On a CPU it is always "f32".
	Precision string `json:"precision,omitempty"`
	// MemoryBudget is how many bytes a run may take beside the weights; 0 is as many as
	// the device has. To keep it, values wait as halves (on a GPU), layers are computed
	// again, and batches take fewer examples, in this order.
	MemoryBudget int64 `json:"memoryBudget,omitempty"`
}

// The WordDropout of a run that asks for none in particular, and of one whose
// questions keep all their words.
const (
	DefaultWordDropout = 0.4
	NoWordDropout      = -1
)

const (
	// usualRate is the learning rate of models of usualWidth and more. Narrow ones
	// want more, having less to move: nano, 256 wide, learns well at 2.5e-3 to 6e-3.
	usualRate  = 2e-4
	usualWidth = 1536
)

// MostRate is the highest learning rate of a run. A step of AdamW is about as long as the rate, so that even a
// hundredth of it is more than weights bear.
const MostRate = 1.0

// Runs that are longer are mistakes: no data set is gone through so often.
const maxEpochs, maxSteps = 10_000, 10_000_000

// rateFor is the learning rate for a model's width where none is said.
func rateFor(width int) float64 {
	return usualRate * math.Pow(max(1, usualWidth/float64(width)), 1.5)
}

// filled is the config for so many examples with its defaults, but for those that
// depend on the model or on how long the examples are.
func (c Config) filled(examples int) Config {
	c.Rank = cmp.Or(c.Rank, 16)
	c.Alpha = cmp.Or(c.Alpha, 2*float64(c.Rank))
	if c.Linears == nil {
		c.Linears = adapter.All()
	}
	c.Batching.Examples = cmp.Or(c.Batching.Examples, batchFor(examples, c.Steps))
	c.Batching.Tokens = cmp.Or(c.Batching.Tokens, 2048)
	c.Batching.Seed = c.Seed
	c.Accumulate = cmp.Or(c.Accumulate, 1)
	c.Keep = cmp.Or(c.Keep, 1)
	c.WordDropout = max(cmp.Or(c.WordDropout, DefaultWordDropout), NoWordDropout)
	if c.Optimizer == nil {
		o := optimizer.Default()
		c.Optimizer = &o
	}
	c.Schedule.Kind = cmp.Or(c.Schedule.Kind, schedule.Cosine)
	c.Schedule.Cycles = cmp.Or(c.Schedule.Cycles, 1)
	return c
}

// checkLength refuses runs without end, before their steps are counted.
func (c *Config) checkLength() error {
	if c.Epochs < 0 || c.Steps < 0 || c.Accumulate < 1 || c.EvaluateEvery < 0 || c.Patience < 0 {
		return fmt.Errorf("%w: %d epochs, %d steps, %d batches to a step, an evaluation every %d steps, a patience "+
			"of %d: none may be negative",
			ErrConfig, c.Epochs, c.Steps, c.Accumulate, c.EvaluateEvery, c.Patience)
	}
	if c.Epochs > maxEpochs || c.Steps > maxSteps {
		return fmt.Errorf("%w: %d epochs, %d steps; at most %d epochs or %d steps", ErrConfig, c.Epochs, c.Steps,
			maxEpochs, maxSteps)
	}
	return nil
}

func (c *Config) check() error {
	switch {
	case c.Rank < 1 || c.Rank > 1024:
		return fmt.Errorf("%w: a rank of %d; 4 to 64 are usual", ErrConfig, c.Rank)
	case !(c.Alpha > 0) || math.IsInf(c.Alpha, 0):
		return fmt.Errorf("%w: an alpha of %v; twice the rank is usual", ErrConfig, c.Alpha)
	}
	if !(c.WordDropout < 1) {
		return fmt.Errorf("%w: a word dropout of %v, wanted a part below 1, or a negative number for none", ErrConfig,
			c.WordDropout)
	}
	if p := gpu.Precision(c.Precision); p != gpu.AutoPrecision && p != gpu.Float32 && p != gpu.Float16 {
		return fmt.Errorf("%w: a precision of %q; it is f32, f16, or nothing for what memory asks for", ErrConfig,
			c.Precision)
	}
	if c.MemoryBudget < 0 {
		return fmt.Errorf("%w: a memory budget of %d bytes", ErrConfig, c.MemoryBudget)
	}
	if c.Schedule.Peak > MostRate {
		return fmt.Errorf("%w: a learning rate of %v; at most %v, and 2e-4 is usual", ErrConfig, c.Schedule.Peak, MostRate)
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
