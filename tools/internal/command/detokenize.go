package command

import "github.com/spf13/cobra"

func newDetokenize(*environment) *cobra.Command {
	return &cobra.Command{Use: "detokenize", Short: "Turn token ids into text", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
