package command

import "github.com/spf13/cobra"

func newDoctor(*environment) *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Check this machine's GPU", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
