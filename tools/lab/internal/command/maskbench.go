package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/lab/internal/maskbench"
)

// maskbenchCommand runs MaskBench.
type maskbenchCommand struct {
	env       *cli.Environment
	options   maskbench.Options
	tokenizer string
	spaced    bool
	wasm      bool
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
Without --tokenizer, tokens are single bytes, and neither masks nor memory are
measured. With --wasm the schemas are run in WebAssembly as well, built as the
browser's bundle is and run by Node, and the times are compared: a sample of a few
hundred (--every) is enough.
With --suite, run the cases of the JSON Schema Test Suite in a folder instead.`,
		Example: cli.Examples(
			`lab maskbench jsonschemabench/maskbench/data`,
			`lab maskbench jsonschemabench/maskbench/data --tokenizer gemma3-tokenizer.json`,
			`lab maskbench jsonschemabench/maskbench/data --tokenizer gemma3-tokenizer.json --every 40 --wasm`,
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
	cmd.Flags().IntVar(&m.options.Every, "every", 1, "run one schema of `N`")
	cmd.Flags().BoolVar(&m.spaced, "spaced", false, "accept any whitespace, not only a space behind comma and colon")
	cmd.Flags().BoolVar(&m.wasm, "wasm", false, "run them in WebAssembly as well, and compare the times")
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
	if m.wasm && m.tokenizer == "" {
		return cli.Usage(errors.New("--wasm needs the pieces of a --tokenizer"))
	}
	m.options.Folder = folder
	if !m.spaced {
		m.options.Whitespace = grammar.OneSpace
	}
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
	r := maskbenchResult{Table: maskbench.Summarize(outcomes)}
	if m.tokenizer != "" {
		if r.Memory, err = maskbench.MeasureMemory(ctx, m.options, pieces, ends); err != nil {
			return err
		}
	}
	if m.wasm {
		if err := m.runTab(ctx, &r); err != nil {
			return err
		}
	}
	return m.print(r, outcomes)
}

// maskbenchResult is what is printed.
type maskbenchResult struct {
	maskbench.Table
	Tab    *maskbench.Table  `json:"wasm,omitempty"`
	Ratios *maskbench.Ratios `json:"wasmRatios,omitempty"`
}

func (m *maskbenchCommand) runTab(ctx context.Context, r *maskbenchResult) error {
	var err error
	if m.options.Folder, err = filepath.Abs(m.options.Folder); err != nil {
		return err
	}
	tokenizer, err := filepath.Abs(m.tokenizer)
	if err != nil {
		return err
	}
	tab, err := maskbench.Tab(ctx, m.options, tokenizer)
	ratios := tab.Against(r.Table)
	r.Tab, r.Ratios = &tab, &ratios
	return err
}

func (m *maskbenchCommand) print(r maskbenchResult, outcomes []maskbench.Outcome) error {
	if m.json {
		return json.NewEncoder(m.env.Out).Encode(r)
	}
	if m.failures {
		for i := range outcomes {
			if o := &outcomes[i]; !o.Passed() {
				fmt.Fprintf(m.env.Out, "%s: refused valid %v, accepted invalid %v, %v\n", o.Name, o.Wrong, o.Accepted, o.Refused)
			}
		}
	}
	if err := r.Write(m.env.Out); err != nil || r.Tab == nil {
		return err
	}
	fmt.Fprintln(m.env.Out, "\nin WebAssembly")
	if err := r.Tab.Write(m.env.Out); err != nil {
		return err
	}
	fmt.Fprintln(m.env.Out, "\nin WebAssembly as many times as natively")
	return r.Ratios.Write(m.env.Out)
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
