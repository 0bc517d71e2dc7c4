package measure

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
)

// LossCurveOptions say which run's losses are written down.
type LossCurveOptions struct {
	Steps   int
	Rank    int
	Rate    float64 // 0 is the model's default
	Seed    uint64
	Every   int    // steps between two looks at what is held out; 0 is the end alone
	Adapter string // folder for the adapter as it is before the first step and, in trained/, after the last
	// Progress, where set, hears the steps that are done.
	Progress func(done, total int)
}

// LossCurve is a run with all that another program needs to repeat it: settings, examples as
// tokens, and which of them each step took.
type LossCurve struct {
	Device    string           `json:"device"`
	Rank      int              `json:"rank"`
	Alpha     float64          `json:"alpha"`
	Optimizer *optimizer.AdamW `json:"optimizer"`
	Examples  []CurveExample   `json:"examples"`
	HeldOut   []CurveExample   `json:"held_out"`
	Steps     []CurveStep      `json:"steps"`
	Seconds   float64          `json:"seconds"` // of all steps
}

// CurveExample is a text and, for each position, the token that should follow, or a
// negative number.
type CurveExample struct {
	IDs     []int32 `json:"ids"`
	Targets []int32 `json:"targets"`
}

// CurveStep is one step of a run.
type CurveStep struct {
	Examples []int    `json:"examples"`
	Rate     float64  `json:"rate"`
	Loss     float64  `json:"loss"`
	Gradient float64  `json:"gradient"` // its length before clipping
	HeldOut  *float64 `json:"held_out,omitempty"`
}

// TrainCurve makes a run whose examples lose no words and which holds the model to nothing, as
// PEFT trains.
func TrainCurve(ctx context.Context, model *gemma4.Model, data finetune.Data, o LossCurveOptions) (c LossCurve,
	err error) {
	if o.Steps < 1 || o.Rank < 1 || o.Adapter == "" {
		return c, fmt.Errorf("%w: %d steps at rank %d, the adapter in %q", bench.ErrOptions, o.Steps, o.Rank, o.Adapter)
	}
	config := finetune.Config{Rank: o.Rank, Steps: o.Steps, Seed: o.Seed, EvaluateEvery: o.Every,
		WordDropout: finetune.NoWordDropout}
	config.Schedule.Peak = o.Rate
	if o.Every == 0 {
		config.EvaluateEvery = o.Steps
	}
	trainer, err := finetune.New(ctx, model, data, config)
	if err != nil {
		return c, err
	}
	defer trainer.Close()
	if err := saveAdapter(ctx, trainer, o.Adapter); err != nil {
		return c, err
	}
	filled := trainer.Config()
	c = LossCurve{Device: model.Info().DeviceName, Rank: filled.Rank, Alpha: filled.Alpha, Optimizer: filled.Optimizer,
		Examples: curveExamples(data.Train), HeldOut: curveExamples(data.HeldOut)}
	batches := stepsOf(data.Train, filled.Batching, o.Steps)
	for event, err := range trainer.Run(ctx) {
		if err != nil {
			return c, err
		}
		c.Seconds += event.Time.Seconds()
		c.Steps = append(c.Steps, CurveStep{Examples: batches[event.Step-1], Rate: event.Rate, Loss: event.Loss,
			Gradient: event.Length, HeldOut: event.HeldOutLoss})
		if o.Progress != nil {
			o.Progress(event.Step, event.Steps)
		}
	}
	return c, saveAdapter(ctx, trainer, filepath.Join(o.Adapter, "trained"))
}

func saveAdapter(ctx context.Context, trainer *finetune.Trainer, folder string) error {
	a, err := trainer.Adapter(ctx)
	if err != nil {
		return err
	}
	return a.Save(folder)
}

func curveExamples(from []dataset.Example) []CurveExample {
	out := make([]CurveExample, len(from))
	for i, e := range from {
		out[i].Targets = e.Targets
		for _, t := range e.Tokens {
			out[i].IDs = append(out[i].IDs, t.ID)
		}
	}
	return out
}

// stepsOf are the examples of each step.
func stepsOf(examples []dataset.Example, batching dataset.Batching, steps int) (batches [][]int) {
	lengths := make([]int, len(examples))
	for i, e := range examples {
		lengths[i] = len(e.Tokens)
	}
	for epoch := 0; len(batches) < steps; epoch++ {
		batches = append(batches, batching.Epoch(epoch, lengths)...)
	}
	return batches[:steps]
}
