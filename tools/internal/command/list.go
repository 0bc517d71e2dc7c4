package command

import "github.com/spf13/cobra"

func newList(*environment) *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List the models on this machine", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
