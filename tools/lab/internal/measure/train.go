package measure

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/wgslkit"
)

// TrainOptions say which training steps are measured.
type TrainOptions struct {
	Tokens    int // of a step, all of them targets but the last
	Rank      int // on all linears of all layers
	Repeats   int
	Recompute bool
	Precision string // finetune.Config's
	Profile   bool
	// Progress, where set, hears the steps that are done.
	Progress func(done, total int)
}

// TrainReport is what was measured.
type TrainReport struct {
	Tokens       int                  `json:"tokens"`
	Rank         int                  `json:"rank"`
	Milliseconds bench.Series         `json:"milliseconds"`
	Planned      int64                `json:"planned_bytes"` // beside the weights
	Recomputed   int                  `json:"recomputed_layers"`
	GPUBytes     int64                `json:"gpu_bytes,omitempty"` // all together, weights too
	WeightBytes  int64                `json:"weight_bytes,omitempty"`
	Losses       []float64            `json:"losses"`
	Profile      []wgslkit.KernelTime `json:"profile,omitempty"`
}

// Train measures whole steps: a batch's gradients and the adapter's move.
func Train(ctx context.Context, model *gemma4.Model, o TrainOptions) (TrainReport, error) {
	report := TrainReport{Tokens: o.Tokens, Rank: o.Rank}
	if o.Repeats < 1 || o.Tokens < 2 {
		return report, fmt.Errorf("%w: %d steps of %d tokens", bench.ErrOptions, o.Repeats, o.Tokens)
	}
	const warmUp = 2
	before := memoryOf(model)
	trainer, err := finetune.New(
		ctx,
		model,
		finetune.Data{Train: []dataset.Example{randomExample(model, o.Tokens)}},
		finetune.Config{
			Rank: o.Rank, Steps: warmUp + o.Repeats, Recompute: o.Recompute, Precision: o.Precision,
			Batching: dataset.Batching{Tokens: o.Tokens},
		},
	)
	if err != nil {
		return report, err
	}
	defer trainer.Close()
	plan := trainer.Plan()
	report.Planned, report.Recomputed, report.WeightBytes = plan.Bytes, plan.Recomputed, before
	var runs []float64
	for event, err := range trainer.Run(ctx) {
		if err != nil {
			return report, err
		}
		report.Losses = append(report.Losses, event.Loss)
		if event.Step > warmUp {
			runs = append(runs, 1000*event.Time.Seconds())
		}
		if o.Progress != nil {
			o.Progress(event.Step, event.Steps)
		}
	}
	report.Milliseconds, report.GPUBytes = bench.SeriesOf(runs), memoryOf(model)
	if o.Profile {
		report.Profile, err = trainer.Profile(ctx)
	}
	return report, err
}

func memoryOf(model *gemma4.Model) int64 {
	var sum int64
	for _, n := range model.GPUMemory() {
		sum += n
	}
	return sum
}

// randomExample is tokens by chance, each the target of the one before it.
func randomExample(model *gemma4.Model, n int) dataset.Example {
	rng := rand.New(rand.NewPCG(5, 6))
	e := dataset.Example{Example: tape.Example{Tokens: make([]tape.Token, n), Targets: make([]int32, n)}}
	for i := range n {
		e.Tokens[i].ID = rng.Int32N(int32(model.Config().Vocab))
		if i > 0 {
			e.Targets[i-1] = e.Tokens[i].ID
		}
	}
	e.Targets[n-1] = tape.NoTarget
	return e
}
