package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/webapp"
)

// describeBuild says which build this is, and whether it carries the web app.
func describeBuild(env *cli.Environment) string {
	app := "not included: gemwire serve finds it in a clone, or takes it with --app"
	if webapp.Included() {
		app = "included"
	}
	return cli.Describe(env.Program) + "app     " + app + "\n"
}

func newVersion(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of gemwire and the build",
		Example: cli.Examples("gemwire version", "gemwire --version"),
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(env.Out, describeBuild(env))
			return err
		},
	}
}
