package command

import "github.com/spf13/cobra"

func newInspect(*environment) *cobra.Command {
	return &cobra.Command{Use: "inspect", Short: "Show what is in a model file", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
