package command

import "github.com/spf13/cobra"

func newLogits(*environment) *cobra.Command {
	return &cobra.Command{Use: "logits", Short: "Write a model's logits for given tokens", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
