package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

// benchFormsCommand compares decoding that is held to a form with free decoding.
type benchFormsCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	options measure.FormsOptions
	json    bool
}

func newBenchForms(env *cli.Environment) *cobra.Command {
	b := &benchFormsCommand{env: env}
	cmd := &cobra.Command{
		Use:   "forms [MODEL]",
		Short: "Compare answers held to a form with free ones",
		Long: `Compare free decoding with decoding that is held to a JSON schema: of one long
string, where each token takes a mask and none is forced, and of a list of records,
whose keys and punctuation are taken without choosing.`,
		Example: cli.Examples(
			`lab bench forms gemma4:e2b`,
			`lab bench forms --device cpu --json`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntVar(&b.options.PromptTokens, "prompt-tokens", 256, "begin with a prompt of `N` tokens")
	flags.IntVar(&b.options.DecodeTokens, "decode-tokens", 256, "decode `N` tokens after it")
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` runs")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.Register(flags)
	return cmd
}

func (b *benchFormsCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.OneModel(list)
	if err != nil {
		return err
	}
	model, err := b.model.Open(ctx, b.env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	report, err := cli.Measuring(b.env, func(progress func(done, total int)) (measure.FormsReport, error) {
		b.options.Progress = progress
		return measure.Forms(ctx, model, b.options)
	})
	if err != nil {
		return err
	}
	if b.json {
		return b.env.PrintJSON(report)
	}
	fmt.Fprintf(b.env.Out, "%-8s %s\n", "device", model.Info().DeviceName)
	fmt.Fprintf(b.env.Out, "%-8s %.3f ms per token\n", "free", report.Free.Median)
	for _, c := range []struct {
		name string
		measure.FormsCase
	}{{"text", report.Text}, {"records", report.Records}} {
		fmt.Fprintf(b.env.Out, "%-8s %.3f ms per token: %.2f times as fast as free (%d tokens, %d of them forced)\n",
			c.name, c.Held.Median, c.Ratio, c.Tokens, c.Forced)
	}
	return nil
}
