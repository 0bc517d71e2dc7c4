package command

import "github.com/spf13/cobra"

func newParity(*environment) *cobra.Command {
	return &cobra.Command{Use: "parity", Short: "Compare with the reference's numbers", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
