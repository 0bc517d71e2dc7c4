package command

import (
	"strings"

	"github.com/spf13/cobra"
)

// commands lists every command in the order in which help shows them.
var commands = []struct {
	group string
	make  func(*environment) *cobra.Command
}{
	{"use", newRun},
	{"use", newChat},
	{"use", newServe},
	{"teach", newTrain},
	{"teach", newEval},
	{"teach", newAdapter},
	{"models", newList},
	{"models", newPull},
	{"models", newInspect},
	{"text", newTokenize},
	{"text", newDetokenize},
	{"text", newRender},
	{"numbers", newLogits},
	{"numbers", newParity},
	{"numbers", newBench},
	{"numbers", newDoctor},
	{"numbers", newSynth},
	{"", newRelease},
	{"", newVersion},
}

var groups = []*cobra.Group{
	{ID: "use", Title: "Use a model:"},
	{ID: "teach", Title: "Teach a model:"},
	{ID: "models", Title: "Models on this machine:"},
	{ID: "text", Title: "Tokens and prompts:"},
	{ID: "numbers", Title: "Check and measure:"},
}

// newRoot is the command line with all its commands.
func newRoot(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "gemwire",
		Short: "Run Gemma 4 on this machine's GPU",
		Long: `gemwire runs Gemma 4 on this machine's GPU, or on its CPU where there is none.

A MODEL is a .gguf file, an http(s) address, a name in Ollama's store such as
gemma4:e2b, or a file that "gemwire pull" brought. With none, the small built-in
model answers.`,
		Example: examples(
			`gemwire run "What is the capital of France?"`,
			`gemwire run gemma4:e2b "Tell me a joke."`,
			`gemwire chat gemma4:e2b`,
			`gemwire list`,
			`gemwire doctor`,
		),
		Args:          args(cobra.NoArgs),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(env.in)
	root.SetOut(env.out)
	root.SetErr(env.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddGroup(groups...)
	for _, c := range commands {
		cmd := c.make(env)
		cmd.GroupID = c.group
		cmd.Flags().SortFlags = false
		root.AddCommand(cmd)
	}
	return root
}

// examples lays out a command's examples for its help.
func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }
