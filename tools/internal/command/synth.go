package command

import "github.com/spf13/cobra"

func newSynth(*environment) *cobra.Command {
	return &cobra.Command{Use: "synth", Short: "Write a model of random weights", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
