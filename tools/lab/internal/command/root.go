package command

import (
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
)

// Main runs the command line and returns the exit status.
func Main(arguments []string) int { return cli.Main("lab", newRoot, arguments) }

// newRoot is the command line with all its commands.
func newRoot(env *cli.Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "lab",
		Short: "Measure, compare and release gemwire itself",
		Long: `lab is for those who work on gemwire, in a clone of its repository: it measures
kernels, memory and training, compares with other engines, counts work, makes up
models to measure, and makes releases. What users want is in gemwire.`,
		Example: cli.Examples(
			`lab bench ops`,
			`lab bench compare gemma4:e2b`,
			`lab synth --shape e2b -o e2b.gguf`,
			`lab release check`,
		),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, cmd := range []*cobra.Command{newBench(env), newSynth(env), newMaskbench(env), newNotices(env),
		newRelease(env)} {
		cmd.Flags().SortFlags = false
		root.AddCommand(cmd)
	}
	return root
}

// newBench is the measurements that developers take.
func newBench(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure kernels, memory, drafts and training, and compare",
		Example: cli.Examples(
			`lab bench ops --only matvec`,
			`lab bench smoke --against testdata/bench-smoke.json`,
			`lab bench compare gemma4:e2b`,
		),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{
		newBenchOps(env), newBenchTrain(env), newBenchCurve(env), newBenchDrafts(env), newBenchForms(env),
		newBenchStreams(env),
		newBenchGrowth(env), newBenchMemory(env), newBenchSmoke(env), newBenchCompare(env),
	} {
		sub.Flags().SortFlags = false
		cmd.AddCommand(sub)
	}
	return cmd
}
