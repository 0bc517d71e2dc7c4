package training

import (
	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/schedule"
)

// Settings are those of a run with all defaults filled in, by the names of their flags.
type Settings struct {
	Rank          int           `json:"rank"`
	Alpha         float64       `json:"alpha"`
	Linears       []string      `json:"linears"`
	Layers        []int         `json:"layers,omitempty"` // none are all
	Epochs        int           `json:"epochs,omitempty"`
	Steps         int           `json:"steps,omitempty"` // instead of epochs
	Batch         int           `json:"batch"`
	BatchTokens   int           `json:"batchTokens"`
	Accumulate    int           `json:"accumulate"`
	Rate          float64       `json:"rate"`
	Schedule      schedule.Kind `json:"schedule"`
	Restarts      int           `json:"restarts"`
	Warmup        int           `json:"warmup"`
	Decay         float64       `json:"decay"`
	Clip          float64       `json:"clip"`
	WordDropout   float64       `json:"wordDropout"`
	Seed          uint64        `json:"seed"`
	EvaluateEvery int           `json:"evaluateEvery,omitempty"`
	Patience      int           `json:"patience,omitempty"`
}

func settingsOf(c finetune.Config) Settings {
	s := Settings{
		Rank: c.Rank, Alpha: c.Alpha, Layers: c.Layers, Epochs: c.Epochs, Steps: c.Steps, Batch: c.Batching.Examples,
		BatchTokens: c.Batching.Tokens, Accumulate: c.Accumulate, Rate: c.Schedule.Peak, Schedule: c.Schedule.Kind,
		Restarts: c.Schedule.Cycles, Warmup: c.Schedule.Warmup, Decay: c.Optimizer.Decay, Clip: c.Optimizer.Clip,
		WordDropout: max(c.WordDropout, 0), Seed: c.Seed, EvaluateEvery: c.EvaluateEvery, Patience: c.Patience,
	}
	for _, l := range c.Linears {
		s.Linears = append(s.Linears, l.String())
	}
	return s
}
