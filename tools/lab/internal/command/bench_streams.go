package command

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

// benchStreamsCommand measures answers that are made at once.
type benchStreamsCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	options measure.StreamsOptions
	json    bool
}

func newBenchStreams(env *cli.Environment) *cobra.Command {
	b := &benchStreamsCommand{env: env}
	cmd := &cobra.Command{
		Use:   "streams [MODEL]",
		Short: "Measure many answers at once",
		Long: `Measure answers that are made at once: the tokens per second of all of them together,
what a step over so many takes, and how long a new request waits
for its first token.`,
		Example: cli.Examples(
			`lab bench streams gemma4:e2b`,
			`lab bench streams --device cpu --streams 1,2,4 --json`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&b.options.Streams, "streams", []int{1, 2, 4, 8, 16, 32, 64}, "measure so many `ANSWERS` at once")
	flags.IntVar(&b.options.PromptTokens, "prompt-tokens", 128, "behind prompts of `N` tokens")
	flags.IntVar(&b.options.DecodeTokens, "decode-tokens", 128, "of `N` tokens each")
	flags.IntVar(&b.options.Newcomers, "newcomers", 20, "let `N` new requests come meanwhile; 0 leaves that out")
	flags.BoolVar(&b.options.Kernels, "kernels", false, "say what each kernel of a step takes, on a GPU")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.Register(flags)
	return cmd
}

func (b *benchStreamsCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.OneModel(list)
	if err != nil {
		return err
	}
	model, err := b.model.Open(ctx, b.env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	rows, err := cli.Measuring(b.env, func(progress func(done, total int)) ([]measure.StreamsRow, error) {
		b.options.Progress = progress
		return measure.Streams(ctx, model, b.options)
	})
	if err != nil {
		return err
	}
	if b.json {
		return b.env.PrintJSON(rows)
	}
	fmt.Fprintf(b.env.Out, "%s\n\n", model.Info().DeviceName)
	w := tabwriter.NewWriter(b.env.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "streams\ttokens/s\ttimes\tstep ms\ttimes\tfirst token p50 ms\tp99 ms\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%d\t%.1f\t%.2f\t%.3f\t%.2f\t%.1f\t%.1f\t\n", r.Streams, r.TokensPerSecond, r.Times, r.StepMS,
			r.StepTimes, r.FirstP50MS, r.FirstP99MS)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		b.printKernels(r)
	}
	return nil
}

// printKernels prints what the kernels of a row take, where that was asked for.
func (b *benchStreamsCommand) printKernels(r measure.StreamsRow) {
	if len(r.Kernels) == 0 {
		return
	}
	var all time.Duration
	for _, k := range r.Kernels {
		all += k.Time
	}
	fmt.Fprintf(b.env.Out, "\n%d streams, all kernels of a step: %v\n", r.Streams, all)
	for _, k := range r.Kernels {
		fmt.Fprintf(b.env.Out, "%10v  %5d  %s  %s\n", k.Time, k.Dispatches, k.Label, k.Kernel)
	}
}
