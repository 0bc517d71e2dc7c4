package command

import "github.com/spf13/cobra"

func newTokenize(*environment) *cobra.Command {
	return &cobra.Command{Use: "tokenize", Short: "Turn text into token ids", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
