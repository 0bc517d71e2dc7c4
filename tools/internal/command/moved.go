package command

import (
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
)

// newMoved stands for one release where a command was that developers have in
// tools/lab now, and says so.
func newMoved(env *cli.Environment, name string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			old := cmd.CommandPath()
			now := "lab" + old[len(cmd.Root().Name()):]
			env.Say("%s is now %s: go run ./tools/lab/cmd/%s, in a clone of the repository", old, now, now)
			return cli.ErrReported
		},
	}
}
