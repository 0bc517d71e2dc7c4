package command

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/lab/internal/maskbench"
)

// maskbenchCommand runs MaskBench.
type maskbenchCommand struct {
	env       *cli.Environment
	options   maskbench.Options
	tokenizer string
	suite     string
	draft     string
	failures  bool
	json      bool
}

func newMaskbench(env *cli.Environment) *cobra.Command {
	m := &maskbenchCommand{env: env}
	cmd := &cobra.Command{
		Use:   "maskbench FOLDER",
		Short: "Hold JSON schemas to MaskBench",
		Long: `Compile each schema of MaskBench (the folder maskbench/data of a clone of
github.com/guidance-ai/jsonschemabench) and follow its instances token by token.
A schema passes if every valid instance is accepted and every other one refused.
Without --tokenizer, tokens are single bytes and masks are not timed.
With --suite, run the cases of the JSON Schema Test Suite in a folder instead.`,
		Example: cli.Examples(
			`lab maskbench jsonschemabench/maskbench/data`,
			`lab maskbench jsonschemabench/maskbench/data --tokenizer gemma3-tokenizer.json`,
			`lab maskbench --suite JSON-Schema-Test-Suite/tests/draft2020-12`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			switch {
			case m.suite != "" && len(list) == 0:
				return m.runSuite(cmd.Context())
			case m.suite != "" || len(list) == 0:
				return fmt.Errorf("give the folder of MaskBench, or one of the test suite with --suite")
			}
			return m.run(cmd.Context(), list[0])
		},
	}
	cmd.Flags().StringVar(&m.tokenizer, "tokenizer", "", "take the pieces of this tokenizer.json `FILE` of Gemma")
	cmd.Flags().BoolVar(&m.options.AnyOrder, "any-order", true, "accept properties in any order, as instances have them")
	cmd.Flags().StringVar(&m.options.Only, "only", "", "run schemas whose names match this `PATTERN`")
	cmd.Flags().BoolVar(&m.failures, "failures", false, "list what did not pass, with the reason")
	cmd.Flags().StringVar(&m.suite, "suite", "", "run the cases of the JSON Schema Test Suite in this `FOLDER`")
	cmd.Flags().StringVar(&m.draft, "draft", "", "take schemas of the suite that name no $schema for this `ONE`")
	cmd.Flags().BoolVar(&m.json, "json", false, "print the figures as JSON")
	return cmd
}

func (m *maskbenchCommand) run(ctx context.Context, folder string) error {
	pieces, ends := maskbench.Bytes()
	var err error
	if m.tokenizer != "" {
		if pieces, ends, err = maskbench.Hub(m.tokenizer); err != nil {
			return err
		}
		m.options.Masks = true
	}
	m.options.Folder = folder
	if err := m.options.Prepare(pieces, ends); err != nil {
		return err
	}
	progress := terminal.NewProgress(m.env.Err, false)
	defer progress.Clear()
	m.options.Progress = func(done, total int) { progress.Set("schemas", int64(done), int64(total)) }
	outcomes, err := maskbench.Run(ctx, m.options)
	if err != nil {
		return err
	}
	progress.Clear()
	table := maskbench.Summarize(outcomes)
	if m.json {
		return json.NewEncoder(m.env.Out).Encode(table)
	}
	if m.failures {
		for i := range outcomes {
			if o := &outcomes[i]; !o.Passed() {
				fmt.Fprintf(m.env.Out, "%s: refused valid %v, accepted invalid %v, %v\n", o.Name, o.Wrong, o.Accepted, o.Refused)
			}
		}
	}
	return table.Write(m.env.Out)
}

func (m *maskbenchCommand) runSuite(ctx context.Context) error {
	groups, err := maskbench.Suite(ctx, m.suite, m.draft)
	if err != nil {
		return err
	}
	if m.json {
		return json.NewEncoder(m.env.Out).Encode(groups)
	}
	return maskbench.WriteSuite(m.env.Out, groups, m.failures)
}
