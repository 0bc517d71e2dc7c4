package command

import "github.com/spf13/cobra"

func newBench(*environment) *cobra.Command {
	return &cobra.Command{Use: "bench", Short: "Measure prefill, decode and kernels", RunE: func(*cobra.Command, []string) error { return errNotYet }}
}
