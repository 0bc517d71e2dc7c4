package models

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/hub"
	"github.com/gemwire/gemwire/tools/internal/modelref"
)

func NewRemove(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:        "rm NAME…",
		SuggestFor: []string{"remove", "delete"},
		Short:      "Delete models that were pulled",
		Long: `Delete models that "gemwire pull" downloaded, or began to download, by their names
in "gemwire list". All parts of a split model go, and with the last model of a
repository its towers and assistants. Models in Ollama's store are
deleted with "ollama rm", and your own files are not touched.`,
		Example: cli.Examples(
			`gemwire rm hf.co/ggml-org/gemma-4-E2B-it-GGUF:Q8_0`,
			`gemwire rm gemma-4-E2B-it-Q4_K_M`,
			`gemwire rm gemma-4-31B-it-Q8_0-00001-of-00002`,
		),
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, list []string) error {
			finder := env.Finder()
			var files []string
			for _, name := range list { // all of them are looked at before any is deleted
				found, ok := finder.PulledFiles(name)
				if !ok {
					return notPulled(finder, name)
				}
				files = append(files, found...)
			}
			for _, file := range files {
				freed, err := finder.Delete(file)
				if err != nil {
					return err
				}
				env.Say("deleted %s, %s", file, ByteCount(freed))
			}
			return nil
		},
	}
}

// notPulled says why a model cannot be deleted.
func notPulled(finder modelref.Finder, name string) error {
	if strings.Contains(name, "://") {
		return cli.Usagef("rm takes names from gemwire list, and %s is a URL", name)
	}
	ref, err := finder.Find(name)
	switch {
	case errors.Is(err, hub.ErrSeveral):
		return err
	case errors.Is(err, modelref.ErrNotFound) && !modelref.LooksLikePath(name):
		return fmt.Errorf("%w: %s was not pulled%s; gemwire list shows the models", modelref.ErrNotFound,
			flagset.Printable(name), finder.Suggestion(name))
	case err != nil:
		if info, statErr := os.Stat(name); statErr == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder, and no model that was pulled", name)
		}
		return err
	case ref.Kind == modelref.BuiltIn:
		return fmt.Errorf("%s is built into gemwire and cannot be deleted", name)
	case ref.Kind == modelref.Ollama:
		return fmt.Errorf("%s is in Ollama's store; delete it with: ollama rm %s", name, name)
	}
	return fmt.Errorf("%s is a file of your own, and no model that was pulled; delete it as you delete files", name)
}
