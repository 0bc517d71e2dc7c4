package command

import "github.com/spf13/cobra"

func newRun(*environment) *cobra.Command {
	return &cobra.Command{Use: "run", Short: "Answer one prompt", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
