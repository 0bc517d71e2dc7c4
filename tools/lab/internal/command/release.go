package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/lab/internal/release"
)

// releaseCommand makes releases of the repository around the current folder.
type releaseCommand struct {
	env          *cli.Environment
	incompatible bool
	unchecked    bool
	output       string
	only         []string
}

func newRelease(env *cli.Environment) *cobra.Command {
	r := &releaseCommand{env: env}
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Make a release of gemwire itself, in a clone",
		Long: `Make a release of gemwire itself, in a clone: tag its modules, each behind those
that it needs, and build what is given to people. Nothing is pushed. A VERSION is
like v0.2.0; without one it is the next patch.`,
		Example: cli.Examples(
			`lab release plan v0.2.0`,
			`lab release check`,
			`lab release tag v0.2.0`,
			`lab release build v0.2.0 -o dist/v0.2.0`,
			`lab release proxy -o proxy && GOPROXY=file://$PWD/proxy,direct go get github.com/gemwire/gemwire/gguf`,
		),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(r.plan(), r.check(), r.tag(), r.build(), r.proxy(), r.notes())
	for _, c := range cmd.Commands() {
		c.Flags().SortFlags = false
	}
	return cmd
}

func (r *releaseCommand) plan() *cobra.Command {
	return &cobra.Command{
		Use:     "plan [VERSION]",
		Short:   "Say what a release would do, and change nothing",
		Example: cli.Examples(`lab release plan v0.2.0`),
		Args:    cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return r.drafted(
				cmd.Context(),
				list,
				func(ctx context.Context, repo *release.Repository, d *release.Draft, _ string) error {
					r.print(d)
					return nil
				},
			)
		},
	}
}

func (r *releaseCommand) check() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [VERSION]",
		Short: "Draft a release of the last commit and use it from outside",
		Long: `Draft a release of the last commit, lay its modules out as a proxy, and let an
empty module fetch each of them alone, build a short program and run it; and
compare their interfaces with the last release. Nothing is changed.`,
		Example: cli.Examples(`lab release check`),
		Args:    cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return r.drafted(cmd.Context(), list, r.checkAndCompare)
		},
	}
	r.incompatibleFlag(cmd)
	return cmd
}

func (r *releaseCommand) tag() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tag VERSION",
		Short: "Check, then make the commits and tags of a release, all or none",
		Long: `Check a release as "lab release check" does. Then make two commits: one in
which modules require each other by version, with the tags, and one to continue with.
The checkout must be clean. Nothing is pushed.`,
		Example: cli.Examples(`lab release tag v0.2.0 && git push --follow-tags --atomic`),
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return r.drafted(
				cmd.Context(),
				list,
				func(ctx context.Context, repo *release.Repository, d *release.Draft, folder string) error {
					r.print(d)
					if err := repo.RequireClean(ctx); err != nil {
						return err
					}
					if !r.unchecked {
						if err := r.checkAndCompare(ctx, repo, d, folder); err != nil {
							return err
						}
					}
					if err := repo.Publish(ctx, d); err != nil {
						return err
					}
					r.env.Say("Tagged %s. It leaves this machine with: git push --follow-tags --atomic", d.Version)
					return nil
				},
			)
		},
	}
	r.incompatibleFlag(cmd)
	cmd.Flags().BoolVar(&r.unchecked, "unchecked", false, "leave the check out, which CI has made of the same commit")
	return cmd
}

func (r *releaseCommand) incompatibleFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.incompatible, "incompatible", false,
		"let a minor version below v1 break its users; the notes say where")
}

func (r *releaseCommand) build() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "build [VERSION]",
		Short: "Build the files of a tagged version",
		Long: `Build the files of a tagged version (the last one by default) out of its tags: the
command for every platform that this machine has a C compiler for, the npm
package, the C library, bills of materials, notes and checksums.`,
		Example: cli.Examples(
			`lab release build v0.2.0 -o dist/v0.2.0`,
			`lab release build --only linux/amd64,windows/amd64`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return r.runBuild(cmd.Context(), list) },
	}
	cmd.Flags().StringVarP(&r.output, "output", "o", "", "write to this new `FOLDER` (default dist/VERSION)")
	cmd.Flags().StringSliceVar(&r.only, "only", nil,
		"build these `PARTS` alone: platforms of the command, like linux/amd64, npm, c")
	return cmd
}

func (r *releaseCommand) proxy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proxy -o FOLDER",
		Short: "Lay all tagged versions out as a folder for GOPROXY",
		Example: cli.Examples(
			`lab release proxy -o proxy && GOPROXY=file://$PWD/proxy,direct go get github.com/gemwire/gemwire/gguf`,
		),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return r.runProxy(cmd.Context()) },
	}
	cmd.Flags().StringVarP(&r.output, "output", "o", "", "write to this `FOLDER`")
	return cmd
}

func (r *releaseCommand) notes() *cobra.Command {
	return &cobra.Command{
		Use:     "notes [VERSION]",
		Short:   "Print the notes that a release of the last commit would have",
		Example: cli.Examples(`lab release notes v0.2.0`),
		Args:    cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return r.drafted(
				cmd.Context(),
				list,
				func(ctx context.Context, repo *release.Repository, d *release.Draft, folder string) error {
					differences, err := repo.Compare(ctx, d, filepath.Join(folder, "compare"))
					if err != nil {
						return err
					}
					text, err := repo.Notes(ctx, d, differences)
					if err == nil {
						_, err = fmt.Fprint(r.env.Out, text)
					}
					return err
				},
			)
		},
	}
}

// drafted drafts a version in a folder that is removed afterwards, and goes on with it.
func (r *releaseCommand) drafted(ctx context.Context, list []string,
	do func(context.Context, *release.Repository, *release.Draft, string) error) error {
	return r.working(ctx, func(repo *release.Repository, folder string) error {
		d, err := repo.Draft(ctx, argument(list), filepath.Join(folder, "draft"))
		if err != nil {
			return err
		}
		return do(ctx, repo, d, folder)
	})
}

// working opens the repository and a folder to work in.
func (r *releaseCommand) working(ctx context.Context, do func(*release.Repository, string) error) error {
	repo, err := release.Open(ctx, ".")
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gemwire-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	return do(repo, folder)
}

// argument is the first argument, "" for none.
func argument(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// print prints what a draft would put in place.
func (r *releaseCommand) print(d *release.Draft) {
	last := "the first one"
	if d.Last != "" {
		last = fmt.Sprintf("a %s version behind %s", d.Step, d.Last)
	}
	fmt.Fprintf(r.env.Out, "%s, %s, of commit %.12s\n\n", d.Version, last, d.Base)
	for _, m := range d.Modules {
		fmt.Fprintf(r.env.Out, "  tag %-26s %s\n", m.Tag(d.Version), m.Path)
	}
	targets, without := release.Targets(r.env.Getenv)
	fmt.Fprintln(r.env.Out)
	for _, t := range targets {
		if t.CC != "" {
			fmt.Fprintf(r.env.Out, "  build %-24s with %s\n", t, t.CC)
		}
	}
	for _, reason := range without {
		fmt.Fprintf(r.env.Out, "  %s\n", reason)
	}
	fmt.Fprintln(r.env.Out)
}

// checkAndCompare uses a draft's modules from outside and compares their interfaces
// with the last release's.
func (r *releaseCommand) checkAndCompare(ctx context.Context, repo *release.Repository, d *release.Draft,
	folder string) error {
	err := repo.CheckOutside(ctx, d, release.OwnChecks, filepath.Join(folder, "outside"), func(p release.Checked) {
		fmt.Fprintf(r.env.Out, "%-16s %s, with %d other modules (%.1f s)\n", p.Module.Folder, p.Did, len(p.Brings),
			p.Took.Seconds())
	})
	if err != nil {
		return err
	}
	differences, err := repo.Compare(ctx, d, filepath.Join(folder, "compare"))
	if err != nil {
		return err
	}
	for _, diff := range differences {
		if diff.Before != "" {
			fmt.Fprintf(r.env.Out, "%-16s since %s: %d incompatible changes, %d others\n", diff.Module.Folder,
				diff.Before,
				len(diff.Incompatible), len(diff.Compatible))
		}
	}
	return release.Permit(d.Step, differences, r.incompatible && release.BeforeV1(d.Version))
}

func (r *releaseCommand) runBuild(ctx context.Context, list []string) error {
	return r.working(ctx, func(repo *release.Repository, folder string) error {
		version := argument(list)
		if version == "" {
			last, err := repo.LastVersion(ctx)
			if err != nil {
				return err
			}
			if version = last; version == "" {
				return cli.Usagef(`nothing is tagged yet; begin with "lab release tag VERSION"`)
			}
		}
		if r.output == "" {
			r.output = filepath.Join(repo.Root, "dist", version)
		}
		options, err := r.parts()
		if err != nil {
			return err
		}
		options.SigningKey = r.env.Getenv("GEMWIRE_SIGNING_KEY")
		if options.SigningKey == "" {
			r.env.Say("the checksums are not signed: GEMWIRE_SIGNING_KEY names no key")
		}
		options.Report = func(name string, bytes int64) { r.env.Say("%9s  %s", humanize.Bytes(uint64(bytes)), name) }
		options.LeftOut = func(reason string) { r.env.Say("left out: %s", reason) }
		if err := repo.Build(ctx, version, r.output, folder, options); err != nil {
			return err
		}
		r.env.Say("%s holds the files of %s, with their checksums", r.output, version)
		return nil
	})
}

// parts are what is built: all of it, or what --only names.
func (r *releaseCommand) parts() (release.BuildOptions, error) {
	all := release.OwnBuild()
	targets, without := release.Targets(r.env.Getenv)
	if len(r.only) == 0 {
		for _, reason := range without {
			r.env.Say("%s", reason)
		}
		all.Targets = targets
		return all, nil
	}
	some := all
	some.Package, some.Library, some.Targets = nil, nil, nil
	for _, part := range r.only {
		i := slices.IndexFunc(targets, func(t release.Target) bool { return t.String() == part })
		switch {
		case part == "npm":
			some.Package = all.Package
		case part == "c":
			some.Library = all.Library
		case i >= 0:
			some.Targets = append(some.Targets, targets[i])
		default:
			return some, cli.Usagef("--only %s: say npm, c, or one of %v", part, targets)
		}
	}
	return some, nil
}

func (r *releaseCommand) runProxy(ctx context.Context) error {
	if r.output == "" {
		return cli.Usagef("no folder; name one with -o")
	}
	repo, err := release.Open(ctx, ".")
	if err != nil {
		return err
	}
	list, err := repo.Published(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return cli.Usagef(`nothing is tagged yet; begin with "lab release tag VERSION"`)
	}
	if err := repo.WriteProxy(ctx, r.output, list); err != nil {
		return err
	}
	r.env.Say("%s holds %d versions", r.output, len(list))
	return nil
}
