package models

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gguf"
	towers "github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

func NewShow(env *cli.Environment) *cobra.Command {
	var model cli.ModelFlags
	var asJSON, license bool
	cmd := &cobra.Command{
		Use:        "show [MODEL]",
		SuggestFor: []string{"info", "describe"},
		Short:      "Show what a model is and how it begins",
		Long: `Show what a model is: its size, weights, context, and what it takes. Of a model in
Ollama's store, also what its maker added: system prompt, parameters, messages and
adapters, and which of it gemwire uses. "gemwire inspect" shows the file itself.`,
		Example: cli.Examples(
			`gemwire show`,
			`gemwire show gemma4:e2b`,
			`gemwire show gemma4:e2b --license`,
			`gemwire show gemma4:e2b --json | jq .parameters`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			name, err := model.OneModel(list)
			if err != nil {
				return err
			}
			file, err := model.OpenFile(cmd.Context(), env, name)
			if err != nil {
				return err
			}
			defer file.Close()
			about, err := describe(cmd.Context(), &model, file)
			switch {
			case err != nil:
				return err
			case asJSON:
				return env.PrintJSON(about)
			case license:
				return printLicense(env.Out, about)
			}
			return about.print(env.Out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&license, "license", false, "print the license that comes with the model")
	model.RegisterReference(cmd.Flags())
	return cmd
}

// About is what there is to say of a model.
type About struct {
	Name         string         `json:"name"`
	Path         string         `json:"path,omitempty"`
	Size         int64          `json:"size"` // bytes of the file
	Architecture string         `json:"architecture"`
	Values       int64          `json:"values"`  // weights, all together
	Weights      []typeTotal    `json:"weights"` // by type
	Layers       int            `json:"layers,omitempty"`
	Context      int            `json:"context,omitempty"` // tokens at most
	ChatFormat   string         `json:"chatFormat,omitempty"`
	Takes        []string       `json:"takes,omitempty"`
	System       string         `json:"system,omitempty"`
	Parameters   map[string]any `json:"parameters,omitempty"`
	Unused       []string       `json:"unused,omitempty"` // parameters that gemwire does not have
	Messages     []chat.Message `json:"messages,omitempty"`
	Adapters     []string       `json:"adapters,omitempty"`
	Template     string         `json:"template,omitempty"` // the maker's own, which is not used
	Licenses     []string       `json:"licenses,omitempty"`
	Problem      string         `json:"problem,omitempty"` // why gemwire cannot run it
}

// describe reads a file's header, and what the store keeps with it.
func describe(ctx context.Context, flags *cli.ModelFlags, file *gguf.File) (*About, error) {
	ref := flags.Found()
	a := &About{Name: ref.Name, Path: ref.Path, Size: file.Size(), Architecture: file.Architecture()}
	a.Weights = (&inspection{file: file}).types()
	for _, t := range a.Weights {
		a.Values += t.Values
	}
	if model, err := arch.Open(file); err != nil {
		a.Problem = cli.Sentence(err)
	} else {
		a.Layers, a.Context = model.Config.Blocks, model.Config.ContextLength
		a.ChatFormat = chat.For(model.Config).String()
		a.Takes = []string{"text"}
		if t, err := towers.Open(file, model.Config.EmbeddingLength); err == nil && t.Vision != nil {
			a.Takes = append(a.Takes, "images")
		}
		if t, err := towers.Open(file, model.Config.EmbeddingLength); err == nil && t.Audio != nil {
			a.Takes = append(a.Takes, "audio")
		}
	}
	return a, a.takeStored(ctx, flags)
}

// takeStored adds what Ollama's store keeps.
func (a *About) takeStored(ctx context.Context, flags *cli.ModelFlags) error {
	m := flags.Stored()
	if m == nil {
		return nil
	}
	a.System, a.Parameters, a.Adapters, a.Licenses = m.System, m.Params, m.Adapters, m.Licenses
	for _, message := range m.Messages {
		a.Messages = append(a.Messages, chat.Message{Role: message.Role, Content: chat.Text(message.Content)})
	}
	if flagset.OwnTemplate(m) {
		a.Template = m.Template
	}
	sampling := flagset.NewSampling()
	unused, err := sampling.TakeStored(m.Params)
	if a.Unused = unused; err != nil {
		a.Problem = cli.Sentence(err)
	}
	if _, err := flags.OwnAdapters(ctx); err != nil {
		a.Problem = cli.Sentence(err)
	}
	return ctx.Err()
}

// print prints it for people.
func (a *About) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(label, format string, values ...any) {
		fmt.Fprintf(w, "%s\t%s\n", label, fmt.Sprintf(format, values...))
	}
	row("model", "%s", flagset.Printable(a.Name))
	row("architecture", "%s", flagset.Printable(orUnknown(a.Architecture)))
	row("weights", "%s in %s: %s", count(a.Values), ByteCount(a.Size), typeNames(a.Weights))
	if a.Context > 0 {
		row("layers", "%d", a.Layers)
		row("context", "%d tokens at most", a.Context)
		row("chat format", "%s", a.ChatFormat)
		row("takes", "%s", strings.Join(a.Takes, ", "))
	}
	if a.Path != "" {
		row("file", "%s", flagset.Printable(a.Path))
	}
	for _, path := range a.Adapters {
		row("adapter", "%s", flagset.Printable(path))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Parameters)) {
		value, err := json.Marshal(a.Parameters[name])
		if err != nil {
			return err
		}
		note := ""
		if slices.Contains(a.Unused, name) {
			note = " (not used)"
		}
		row("parameter", "%s %s%s", flagset.Printable(name), value, note)
	}
	if a.System != "" {
		row("system", "%s", oneLine(a.System))
	}
	for _, m := range a.Messages {
		row("message", "%s: %s", flagset.Printable(m.Role), oneLine(m.Content.String()))
	}
	if a.Template != "" {
		row("template", "its own, which is not used: gemwire writes Gemma's chat format itself")
	}
	for _, text := range a.Licenses {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		row("license", "%s", oneLine(first))
	}
	if a.Problem != "" {
		row("problem", "%s", a.Problem)
	}
	return w.Flush()
}

// typeNames lists types of weights, those with the most bytes first.
func typeNames(types []typeTotal) string {
	most := func(a, b typeTotal) int { return cmp.Compare(b.Bytes, a.Bytes) }
	sorted := slices.SortedStableFunc(slices.Values(types), most)
	names := make([]string, len(sorted))
	for i, t := range sorted {
		names[i] = t.Type
	}
	return strings.Join(names, ", ")
}

// oneLine is the beginning of a text as a line of a table shows it.
func oneLine(text string) string {
	const most = 200
	line := strings.Join(strings.Fields(flagset.Harmless(text)), " ")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}

func printLicense(out io.Writer, a *About) error {
	if len(a.Licenses) == 0 {
		return fmt.Errorf("no license came with %s; see where it was published", flagset.Printable(a.Name))
	}
	_, err := fmt.Fprintln(out, strings.TrimSpace(flagset.Harmless(strings.Join(a.Licenses, "\n\n"))))
	return err
}
