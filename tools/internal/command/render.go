package command

import "github.com/spf13/cobra"

func newRender(*environment) *cobra.Command {
	return &cobra.Command{Use: "render", Short: "Print the prompt that a conversation becomes", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
