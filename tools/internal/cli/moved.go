package cli

import (
	"github.com/spf13/cobra"
)

// NewMoved stands for one release where a command was that developers have in
// tools/lab now, and says so.
func NewMoved(env *Environment, name string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			old := cmd.CommandPath()
			now := "lab" + old[len(cmd.Root().Name()):]
			env.Say("%s is now %s: go run ./tools/lab/cmd/%s, in a clone of the repository", old, now, now)
			return ErrReported
		},
	}
}
