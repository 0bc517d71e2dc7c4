package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

// benchDraftsCommand compares decoding with drafts and without.
type benchDraftsCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	options measure.DraftsOptions
	json    bool
}

func newBenchDrafts(env *cli.Environment) *cobra.Command {
	b := &benchDraftsCommand{env: env}
	cmd := &cobra.Command{
		Use:   "drafts [MODEL]",
		Short: "Compare decoding with and without guessing ahead",
		Long: `Compare decoding token by token with guessing ahead from the text before, on a
text that repeats itself (what the model says greedily behind random tokens, which
soon goes in circles) and on one that does not (drawn at a high temperature).`,
		Example: cli.Examples(
			`lab bench drafts gemma4:e2b`,
			`lab bench drafts --device cpu --json`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntVar(&b.options.PromptTokens, "prompt-tokens", 256, "begin with a prompt of `N` tokens")
	flags.IntVar(&b.options.DecodeTokens, "decode-tokens", 256, "decode `N` tokens after it")
	flags.IntVar(&b.options.Drafts, "drafts", 0,
		"guess up to `N` tokens from a text that repeats itself and check them at once; 0 as many as pay on the device")
	flags.IntVar(&b.options.AssistantDrafts, "assistant-drafts", 0,
		"let an assistant guess up to `N` tokens at once; 0 as many as pay on the device, -1 none")
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` runs")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.Register(flags)
	b.model.RegisterAssistant(flags)
	return cmd
}

func (b *benchDraftsCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.OneModel(list)
	if err != nil {
		return err
	}
	model, err := b.model.Open(ctx, b.env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	report, err := cli.Measuring(b.env, func(progress func(done, total int)) (measure.DraftsReport, error) {
		b.options.Progress = progress
		return measure.Drafts(ctx, model, b.options)
	})
	if err != nil {
		return err
	}
	if b.json {
		return b.env.PrintJSON(report)
	}
	fmt.Fprintf(b.env.Out, "%-10s %s\n", "device", model.Info().DeviceName)
	for _, c := range []struct {
		name string
		measure.DraftsCase
	}{{"repeating", report.Repeating}, {"fresh", report.Fresh}} {
		fmt.Fprintf(b.env.Out,
			"%-10s %.3f ms per token without drafts, %.3f with: %.2f times as fast (%d tokens, %d drafted, %d of "+
				"them right%s)\n",
			c.name, c.Without.Median, c.With.Median, c.Ratio, c.Tokens, c.Drafted, c.Right, assisted(c.DraftsCase))
	}
	return nil
}

// assisted is the assistant's part of the guesses.
func assisted(c measure.DraftsCase) string {
	if c.Assisted == 0 {
		return ""
	}
	return fmt.Sprintf("; the assistant's %d, %d of them right", c.Assisted, c.AssistedRight)
}
