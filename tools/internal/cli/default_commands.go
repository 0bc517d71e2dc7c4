package cli

import (
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/suggest"
)

// checkDefaults has cobra's own commands, help and completion, refuse what they do not know instead of passing over it.
func checkDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = knownCommand
		case "completion":
			cmd.Args = Args(cobra.NoArgs)
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = Args(cobra.NoArgs)
			}
		}
	}
}

// knownCommand refuses words that lead to no command.
func knownCommand(help *cobra.Command, list []string) error {
	found, rest, _ := help.Root().Find(list)
	if len(rest) == 0 {
		return nil
	}
	closest := suggest.Closest(rest[0], commandNames(found))
	if len(closest) == 0 {
		return Usagef("unknown command %q; %s --help lists what there is", rest[0], found.CommandPath())
	}
	return Usagef("unknown command %q%s", rest[0], suggest.Question(closest))
}
