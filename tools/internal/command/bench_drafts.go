package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
)

// benchDraftsCommand compares decoding with drafts and without.
type benchDraftsCommand struct {
	env     *environment
	model   modelFlags
	options bench.DraftsOptions
	drafts  draftFlags
	json    bool
}

func newBenchDrafts(env *environment) *cobra.Command {
	b := &benchDraftsCommand{env: env}
	cmd := &cobra.Command{
		Use:   "drafts [MODEL]",
		Short: "Compare decoding with and without guessing ahead",
		Long: `Compare decoding token by token with guessing ahead from the text before, on a
text that repeats itself (what the model says greedily behind random tokens, which
soon goes in circles) and on one that does not (drawn at a high temperature).`,
		Example: examples(
			`gemwire bench drafts gemma4:e2b`,
			`gemwire bench drafts --device cpu --json`,
		),
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntVar(&b.options.PromptTokens, "prompt-tokens", 256, "begin with a prompt of `N` tokens")
	flags.IntVar(&b.options.DecodeTokens, "decode-tokens", 256, "decode `N` tokens after it")
	b.drafts.register(flags)
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` runs")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.register(flags)
	b.model.registerAssistant(flags)
	return cmd
}

func (b *benchDraftsCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.oneModel(list)
	if err != nil {
		return err
	}
	model, err := b.model.open(ctx, b.env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	b.options.Drafts, b.options.AssistantDrafts = b.drafts.text, b.drafts.assistant
	report, err := measuring(b.env, func(progress func(done, total int)) (bench.DraftsReport, error) {
		b.options.Progress = progress
		return bench.Drafts(ctx, model, b.options)
	})
	if err != nil {
		return err
	}
	if b.json {
		return b.env.printJSON(report)
	}
	fmt.Fprintf(b.env.out, "%-10s %s\n", "device", model.Info().DeviceName)
	for _, c := range []struct {
		name string
		bench.DraftsCase
	}{{"repeating", report.Repeating}, {"fresh", report.Fresh}} {
		fmt.Fprintf(b.env.out, "%-10s %.3f ms a token without drafts, %.3f with: %.2f times as fast (%d tokens, %d drafted, %d of them right%s)\n",
			c.name, c.Without.Median, c.With.Median, c.Ratio, c.Tokens, c.Drafted, c.Right,
			assisted(gemma4.Usage{Assisted: c.Assisted, AssistedRight: c.AssistedRight}))
	}
	return nil
}
