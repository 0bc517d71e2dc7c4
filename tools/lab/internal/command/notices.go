package command

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/lab/internal/notices"
)

// newNotices gathers the licences of other people's works.
func newNotices(env *cli.Environment) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "notices",
		Short: "Gather the licenses of all third parties, in a clone",
		Long: `Gather the licenses of all third parties in what gemwire ships: the command,
the C library, the npm package and the web app. Each has a file of notices in the
repository. The packages of npm must be installed: scripts/setup.sh web.`,
		Example: cli.Examples(`lab notices`, `lab notices --check`),
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, p := range notices.Products {
				do := p.Write
				if check {
					do = p.Check
				}
				if err := do(cmd.Context(), "."); err != nil {
					return err
				}
				env.Say("%s: %s", p.Name, p.File)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "only say whether the files hold all that is used; needs no packages")
	cmd.AddCommand(newCrates())
	return cmd
}

// newCrates makes crates.json.
func newCrates() *cobra.Command {
	var version, source string
	cmd := &cobra.Command{
		Use:   "crates FOLDER",
		Short: "List the crates in wgpu-native, out of its source",
		Long: `List the crates in wgpu-native with their licenses, for the version of it that the
Go binding brings as static libraries. FOLDER is a checkout of wgpu-native at
that version, whose crates "cargo fetch" has fetched.`,
		Example: cli.Examples(`lab notices crates wgpu-native --module v0.23.0 --source "wgpu-native v0.19.4.1"`),
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return writeCrates(cmd.Context(), list[0], version, source)
		},
	}
	cmd.Flags().StringVar(&version, "module", "", "`VERSION` of the Go binding")
	cmd.Flags().StringVar(&source, "source", "", "`NAME` of what the libraries were built from")
	return cmd
}

func writeCrates(ctx context.Context, folder, version, source string) error {
	if version == "" || source == "" {
		return cli.Usagef("say with --module and --source what the crates are of")
	}
	bound, err := notices.Crates(ctx, folder, version, source)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(bound, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.FromSlash("tools/lab/internal/notices/crates.json"), append(text, '\n'), 0o644)
}
