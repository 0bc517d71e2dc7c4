package numbers

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

// benchCommand measures a model.
type benchCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	lora    flagset.LoRA
	options bench.ModelOptions
	json    bool
}

func NewBench(env *cli.Environment) *cobra.Command {
	b := &benchCommand{env: env}
	cmd := &cobra.Command{
		Use:   "bench [MODEL]",
		Short: "Measure how fast a model is on this machine",
		Long: `Measure how fast a model loads, reads a prompt (prefill) and generates
tokens (decode). One run warms up, then the others count. The figures are
medians, with minimum and maximum.

On a GPU, the kernels that are measured are checked first, in the same run.
Wrong ones are left out and reported; if nothing can replace them, there are no figures.

Decoding reads every active weight once per token. The GB/s are compared with
the bandwidth of a memory copy on the same device.`,
		Example: cli.Examples(
			`gemwire bench gemma4:e2b`,
			`gemwire bench gemma4:e2b --prompt-tokens 2048 --decode-tokens 256 --json`,
			`gemwire bench gemma4:e2b --context-depth 16384`,
			`gemwire bench --device cpu`,
			`gemwire bench gemma4:e2b --profile`,
			`gemwire bench gemma4:e2b --lora my-adapter --lora another=0.5`,
			`gemwire bench media gemma4:e2b`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntVar(&b.options.PromptTokens, "prompt-tokens", 512, "compute a prompt of `N` tokens")
	flags.IntVar(&b.options.DecodeTokens, "decode-tokens", 128, "decode `N` tokens after it")
	flags.IntVar(&b.options.Depth, "context-depth", 0, "put `N` tokens before the prompt, without measuring them")
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` runs")
	flags.BoolVar(&b.options.Profile, "profile", false, "show the GPU time of each kernel in a decoding step")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.Register(flags)
	b.lora.Register(flags)
	cmd.AddCommand(newBenchMedia(env))
	for _, name := range []string{"compare", "drafts", "growth", "memory", "ops", "smoke", "train"} {
		cmd.AddCommand(cli.NewMoved(env, name))
	}
	return cmd
}

func (b *benchCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.OneModel(list)
	if err := errors.Join(err, b.lora.Check()); err != nil {
		return err
	}
	if b.model.Unchecked {
		return cli.Usagef("--unchecked-kernels: bench measures only kernels that it has checked")
	}
	b.model.CheckAnew = true
	model, loading, err := b.open(ctx, name)
	if err != nil {
		return err
	}
	defer model.Close()
	if err := b.lora.Use(ctx, model); err != nil {
		return err
	}
	if b.options.Copy, err = b.model.CopyBandwidth(model); err != nil {
		return cli.Advised(err)
	}
	report, err := cli.Measuring(b.env, func(progress func(done, total int)) (bench.ModelReport, error) {
		b.options.Progress = progress
		return bench.Model(ctx, model, loading, b.options)
	})
	if err != nil {
		return err
	}
	if b.json {
		return b.env.PrintJSON(report)
	}
	printModelReport(b.env.Out, report)
	return nil
}

// open opens the model, with no more context than is measured, and tells the
// time that it took, without that of checking its kernels.
func (b *benchCommand) open(ctx context.Context, name string) (*gemma4.Model, time.Duration, error) {
	begun := time.Now()
	model, err := b.model.Open(ctx, b.env, name)
	if err != nil {
		return nil, 0, err
	}
	loading := time.Since(begun)
	if k := model.Info().Kernels; k != nil {
		loading -= time.Duration(k.Seconds * float64(time.Second))
	}
	return model, loading, nil
}
