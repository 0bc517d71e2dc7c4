package command

import (
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/modelfiles"
	"github.com/gemwire/gemwire/tools/internal/modelref"
)

// commands lists every command in the order in which help shows them.
var commands = []struct {
	group string
	make  func(*cli.Environment) *cobra.Command
}{
	{"use", newRun},
	{"use", newChat},
	{"use", newServe},
	{"use", newEmbed},
	{"teach", newTrain},
	{"teach", newEval},
	{"teach", newAdapter},
	{"models", newList},
	{"models", newPull},
	{"models", newShow},
	{"models", newInspect},
	{"models", newRemove},
	{"files", modelfiles.NewConvert},
	{"files", modelfiles.NewQuantize},
	{"files", modelfiles.NewImatrix},
	{"text", newTokenize},
	{"text", newDetokenize},
	{"text", newRender},
	{"numbers", newLogits},
	{"numbers", newParity},
	{"numbers", newBench},
	{"numbers", newDoctor},
	{"", newVersion},
}

var groups = []*cobra.Group{
	{ID: "use", Title: "Use a model:"},
	{ID: "teach", Title: "Teach a model:"},
	{ID: "models", Title: "Models on this machine:"},
	{ID: "files", Title: "Make model files:"},
	{ID: "text", Title: "Tokens and prompts:"},
	{ID: "numbers", Title: "Check and measure:"},
}

// Main runs the command line and returns the exit status.
func Main(arguments []string) int { return cli.Main("gemwire", newRoot, arguments) }

// newRoot is the command line with all its commands.
func newRoot(env *cli.Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "gemwire",
		Short: "Run Gemma 4 on this machine's GPU",
		Long: `gemwire runs Gemma 4, and Gemma 3's text, on this machine's GPU, or on its CPU if there is none.

A MODEL is a .gguf file, a URL, a name from Ollama's store such as
gemma4:e2b, or a file from "gemwire pull". Without one, the small built-in
model answers.`,
		Example: cli.Examples(
			`gemwire run "What is the capital of France?"`,
			`gemwire run gemma4:e2b "Tell me a joke."`,
			`gemwire chat gemma4:e2b`,
			`gemwire list`,
			`gemwire doctor`,
		),
		Version: cli.Version(),
		Args:    rootArguments(env),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate(describeBuild(env))
	root.AddGroup(groups...)
	for _, c := range commands {
		cmd := c.make(env)
		cmd.GroupID = c.group
		cmd.Flags().SortFlags = false
		root.AddCommand(cmd)
	}
	for _, name := range []string{"release", "synth"} {
		root.AddCommand(newMoved(env, name))
	}
	return root
}

// rootArguments refuses words that are no command; that of a model gets a hint.
func rootArguments(env *cli.Environment) cobra.PositionalArgs {
	refuse := cli.Args(cobra.NoArgs)
	return func(cmd *cobra.Command, list []string) error {
		if len(list) > 0 && (modelref.LooksLikeModel(list[0]) || env.Finder().Names(list[0])) {
			return cli.Usagef("%q is a model and no command; did you mean gemwire run %s?", list[0], list[0])
		}
		return refuse(cmd, list)
	}
}
