package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// benchTrainCommand measures training steps.
type benchTrainCommand struct {
	env     *environment
	model   modelFlags
	options bench.TrainOptions
	json    bool
}

func newBenchTrain(env *environment) *cobra.Command {
	b := &benchTrainCommand{env: env}
	cmd := &cobra.Command{
		Use:   "train [MODEL]",
		Short: "Measure how long a training step takes",
		Long: `Measure steps of LoRA training on all linears of all layers: the gradients of one
batch and the adapter's move. Two steps warm up, and then come those that count.`,
		Example: examples(
			`gemwire bench train gemma4:e2b`,
			`gemwire bench train gemma4:e2b --tokens 2048 --rank 64 --recompute`,
			`gemwire bench train gemma4:e2b --profile --json`,
		),
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntVar(&b.options.Tokens, "tokens", 512, "take `N` tokens a step, each a target")
	flags.IntVar(&b.options.Rank, "rank", 16, "train pairs of rank `R`")
	flags.BoolVar(&b.options.Recompute, "recompute", false, "compute layers again for the way back instead of keeping their values")
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` steps")
	flags.BoolVar(&b.options.Profile, "profile", false, "show what each kernel takes on the GPU")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.register(flags)
	return cmd
}

func (b *benchTrainCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.oneModel(list)
	if err != nil {
		return err
	}
	model, err := b.model.open(ctx, b.env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	progress := terminal.NewProgress(b.env.err, false)
	defer progress.Clear()
	b.options.Progress = func(done, total int) { progress.Set("measuring", int64(done), int64(total)) }
	report, err := bench.Train(ctx, model, b.options)
	if errors.Is(err, bench.ErrOptions) {
		return usageError{err}
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	progress.Clear()
	if b.json {
		return b.env.printJSON(map[string]any{"device": model.Info().DeviceName, "train": report})
	}
	out := b.env.out
	fmt.Fprintf(out, "%-7s %s\n", "device", model.Info().DeviceName)
	fmt.Fprintf(out, "%-7s %s ms  (%d tokens at rank %d; %s; %s tokens a second)\n", "step", figure(report.Milliseconds.Median),
		report.Tokens, report.Rank, span(report.Milliseconds), figure(1000*float64(report.Tokens)/report.Milliseconds.Median))
	fmt.Fprintf(out, "%-7s %s planned beside the weights, %d layers computed again\n", "memory", humanize.Bytes(uint64(report.Planned)), report.Recomputed)
	if report.GPUBytes > 0 {
		fmt.Fprintf(out, "%-7s %s on the GPU, of which the model %s\n", "", humanize.Bytes(uint64(report.GPUBytes)), humanize.Bytes(uint64(report.WeightBytes)))
	}
	if len(report.Profile) > 0 {
		printProfile(out, report.Profile)
	}
	return nil
}
