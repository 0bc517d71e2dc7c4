package command

import (
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/answers"
	"github.com/gemwire/gemwire/tools/internal/command/modelfiles"
	"github.com/gemwire/gemwire/tools/internal/command/models"
	"github.com/gemwire/gemwire/tools/internal/command/numbers"
	"github.com/gemwire/gemwire/tools/internal/command/serving"
	"github.com/gemwire/gemwire/tools/internal/command/texts"
	"github.com/gemwire/gemwire/tools/internal/command/training"
	"github.com/gemwire/gemwire/tools/internal/modelref"
)

// commands lists every command in the order in which help shows them.
var commands = []struct {
	group string
	make  func(*cli.Environment) *cobra.Command
}{
	{"use", answers.NewRun},
	{"use", answers.NewChat},
	{"use", serving.NewServe},
	{"use", serving.NewBatch},
	{"use", texts.NewEmbed},
	{"teach", training.NewTrain},
	{"teach", training.NewEval},
	{"teach", training.NewAdapter},
	{"models", models.NewList},
	{"models", models.NewPull},
	{"models", models.NewShow},
	{"models", models.NewInspect},
	{"models", models.NewRemove},
	{"files", modelfiles.NewConvert},
	{"files", modelfiles.NewQuantize},
	{"files", modelfiles.NewImatrix},
	{"text", texts.NewTokenize},
	{"text", texts.NewDetokenize},
	{"text", texts.NewRender},
	{"numbers", numbers.NewLogits},
	{"numbers", numbers.NewParity},
	{"numbers", numbers.NewBench},
	{"numbers", numbers.NewDoctor},
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
		root.AddCommand(cli.NewMoved(env, name))
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
