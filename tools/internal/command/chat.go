package command

import "github.com/spf13/cobra"

func newChat(*environment) *cobra.Command {
	return &cobra.Command{Use: "chat", Short: "Chat with a model", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
