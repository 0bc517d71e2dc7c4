package command

import "github.com/spf13/cobra"

func newPull(*environment) *cobra.Command {
	return &cobra.Command{Use: "pull", Short: "Download a model", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
