package models

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/modelref"
)

func NewList(env *cli.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the models on this machine",
		Long: `List the models by name: the built-in one, those from "gemwire pull",
and those in Ollama's store ($OLLAMA_MODELS, or Ollama's own folder). Those that
gemwire cannot run are marked, with the reason.`,
		Example: cli.Examples(
			`gemwire list`,
			`gemwire list --json | jq -r '.[].name'`,
		),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			entries, err := env.Finder().List()
			if err != nil {
				return err
			}
			misfits := map[string]string{}
			for _, e := range entries {
				if err := env.Finder().Check(cmd.Context(), e); err != nil && e.Err == nil {
					misfits[e.Name] = cli.Sentence(err)
				}
			}
			if missing := env.Finder().MissingStore(); missing != "" {
				env.Say("%s: %s", env.Program, missing)
			}
			if asJSON {
				return listJSON(env, entries, misfits)
			}
			return listTable(env, entries, misfits)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	return cmd
}

// listTable prints the models, and why some cannot be run, by name.
func listTable(env *cli.Environment, entries []modelref.Entry, misfits map[string]string) error {
	w := tabwriter.NewWriter(env.Out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tSIZE\tFROM\tCHANGED")
	for _, e := range entries {
		changed := ""
		if !e.Modified.IsZero() {
			changed = humanize.Time(e.Modified)
		}
		size := humanize.Bytes(uint64(e.Size))
		if e.Err != nil {
			size, changed = "?", cli.Sentence(e.Err)
		}
		if why := misfits[e.Name]; why != "" {
			changed = "cannot be run: " + why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", flagset.Printable(e.Name), size, e.Kind, changed)
	}
	return w.Flush()
}

type Entry struct {
	Name     string        `json:"name"`
	From     modelref.Kind `json:"from"`
	Path     string        `json:"path,omitempty"`
	Size     int64         `json:"size"`
	Modified *time.Time    `json:"modified,omitempty"`
	Error    string        `json:"error,omitempty"`
	// Misfit says why gemwire cannot run the model.
	Misfit string `json:"misfit,omitempty"`
}

func listJSON(env *cli.Environment, entries []modelref.Entry, misfits map[string]string) error {
	list := []Entry{}
	for _, e := range entries {
		out := Entry{Name: e.Name, From: e.Kind, Path: e.Path, Size: e.Size, Misfit: misfits[e.Name]}
		if !e.Modified.IsZero() {
			out.Modified = &e.Modified
		}
		if e.Err != nil {
			out.Error = cli.Sentence(e.Err)
		}
		list = append(list, out)
	}
	return env.PrintJSON(list)
}
