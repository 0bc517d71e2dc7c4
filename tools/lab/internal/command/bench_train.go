package command

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

// benchTrainCommand measures training steps.
type benchTrainCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	options measure.TrainOptions
	json    bool
	// tablesOnGPU uploads what training leaves in the file otherwise.
	tablesOnGPU bool
}

func newBenchTrain(env *cli.Environment) *cobra.Command {
	b := &benchTrainCommand{env: env}
	cmd := &cobra.Command{
		Use:   "train [MODEL]",
		Short: "Measure how long a training step takes",
		Long: `Measure steps of LoRA training on all linears of all layers: the gradients of one
batch and the adapter's move. Two steps warm up, and then come those that count.`,
		Example: cli.Examples(
			`lab bench train gemma4:e2b`,
			`lab bench train gemma4:e2b --tokens 2048 --rank 64 --recompute`,
			`lab bench train gemma4:e2b --profile --json`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntVar(&b.options.Tokens, "tokens", 512, "take `N` tokens a step, each a target")
	flags.IntVar(&b.options.Rank, "rank", 16, "train pairs of rank `R`")
	flags.BoolVar(&b.options.Recompute, "recompute", false,
		"compute layers again for the way back instead of keeping their values")
	flags.StringVar(&b.options.Precision, "precision", "",
		"how values wait for the way back: f32 or f16 (default: f16 where memory is short)")
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` steps")
	flags.BoolVar(&b.tablesOnGPU, "tables-on-gpu", false,
		"put embedding tables that are only looked up on the GPU too, which training leaves in the file")
	flags.BoolVar(&b.options.Profile, "profile", false, "show the GPU time of each kernel")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.Register(flags)
	return cmd
}

func (b *benchTrainCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.OneModel(list)
	if err != nil {
		return err
	}
	b.model.TablesInFile = !b.tablesOnGPU
	model, err := b.model.Open(ctx, b.env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	report, err := cli.Measuring(b.env, func(progress func(done, total int)) (measure.TrainReport, error) {
		b.options.Progress = progress
		return measure.Train(ctx, model, b.options)
	})
	if err != nil {
		return err
	}
	if b.json {
		return b.env.PrintJSON(map[string]any{"device": model.Info().DeviceName, "train": report})
	}
	out := b.env.Out
	fmt.Fprintf(out, "%-7s %s\n", "device", model.Info().DeviceName)
	fmt.Fprintf(out, "%-7s %s ms  (%d tokens at rank %d; %s; %s tokens/s)\n", "step",
		bench.Figure(report.Milliseconds.Median), report.Tokens, report.Rank, bench.Span(report.Milliseconds),
		bench.Figure(1000*float64(report.Tokens)/report.Milliseconds.Median))
	fmt.Fprintf(out, "%-7s %s planned in addition to the weights, %d layers computed again\n", "memory",
		humanize.Bytes(uint64(report.Planned)), report.Recomputed)
	if report.GPUBytes > 0 {
		fmt.Fprintf(out, "%-7s %s on the GPU, of which the model %s\n", "", humanize.Bytes(uint64(report.GPUBytes)),
			humanize.Bytes(uint64(report.WeightBytes)))
	}
	if len(report.Profile) > 0 {
		bench.PrintProfile(out, report.Profile)
	}
	return nil
}
