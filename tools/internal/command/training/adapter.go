package training

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

func NewAdapter(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "adapter",
		Short: "Inspect and convert LoRA adapters, merge them into a model",
		Example: cli.Examples(
			`gemwire adapter inspect my-adapter`,
			`gemwire adapter convert my-adapter my-adapter.gguf`,
			`gemwire adapter merge gemma4:e2b --lora my-adapter -o merged.gguf`,
		),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{newAdapterInspect(env), newAdapterConvert(env), newAdapterMerge(env)} {
		sub.Flags().SortFlags = false
		cmd.AddCommand(sub)
	}
	return cmd
}

// adapterJSON is what an adapter holds.
type adapterJSON struct {
	Base       string       `json:"base,omitempty"`
	Parameters int64        `json:"parameters"`
	Bytes      int64        `json:"bytes"` // in float32
	Layers     []int        `json:"layers"`
	Linears    []linearJSON `json:"linears"`
}

// linearJSON is what an adapter does to one linear, over all layers.
type linearJSON struct {
	Name   string    `json:"name"`
	Layers int       `json:"layers"`
	Ranks  []int     `json:"ranks"`
	Alphas []float64 `json:"alphas"`
}

func newAdapterInspect(env *cli.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect ADAPTER",
		Short: "Show what an adapter changes",
		Example: cli.Examples(
			`gemwire adapter inspect my-adapter`,
			`gemwire adapter inspect my-adapter.gguf --json`,
		),
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			a, err := adapter.Open(cmd.Context(), list[0])
			if err != nil {
				return flagset.AdapterError(list[0], err)
			}
			if asJSON {
				return env.PrintJSON(describeAdapter(a))
			}
			return printAdapter(env.Out, describeAdapter(a))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func describeAdapter(a *adapter.Adapter) adapterJSON {
	out := adapterJSON{Base: a.Base, Parameters: a.Parameters(), Bytes: 4 * a.Parameters()}
	layers := map[int]bool{}
	for _, l := range adapter.All() {
		line := linearJSON{Name: l.String()}
		ranks, alphas := map[int]bool{}, map[float64]bool{}
		for _, t := range a.Targets() {
			if t.Linear != l {
				continue
			}
			p := a.Pairs[t]
			line.Layers++
			layers[t.Layer], ranks[p.Rank], alphas[float64(p.Scale)*float64(p.Rank)] = true, true, true
		}
		if line.Layers > 0 {
			line.Ranks, line.Alphas = slices.Sorted(maps.Keys(ranks)), slices.Sorted(maps.Keys(alphas))
			out.Linears = append(out.Linears, line)
		}
	}
	out.Layers = slices.Sorted(maps.Keys(layers))
	return out
}

func printAdapter(w io.Writer, a adapterJSON) error {
	var b strings.Builder
	if a.Base != "" {
		fmt.Fprintf(&b, "%-12s %s\n", "trained on", flagset.Printable(a.Base))
	}
	fmt.Fprintf(&b, "%-12s %s numbers, %s\n", "holds", humanize.Comma(a.Parameters), humanize.Bytes(uint64(a.Bytes)))
	fmt.Fprintf(&b, "%-12s %d to %d, %d of them\n", "layers", a.Layers[0], a.Layers[len(a.Layers)-1], len(a.Layers))
	for _, l := range a.Linears {
		fmt.Fprintf(&b, "%-12s in %s, rank %s, alpha %s\n", l.Name, cli.Counted(l.Layers, "layer"), listed(l.Ranks),
			listed(l.Alphas))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// listed is values with commas between them.
func listed[T any](values []T) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", ", ")
}

func newAdapterConvert(env *cli.Environment) *cobra.Command {
	var force flagset.Force
	cmd := &cobra.Command{
		Use:   "convert ADAPTER TO",
		Short: "Convert an adapter to another format",
		Long: `Convert an adapter to another format: a llama.cpp file if TO ends in .gguf, and a
PEFT folder otherwise.`,
		Example: cli.Examples(
			`gemwire adapter convert my-adapter my-adapter.gguf`,
			`gemwire adapter convert my-adapter.gguf my-adapter`,
		),
		Args: cli.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, list []string) error {
			if err := force.Check(savedFiles(list[1])...); err != nil {
				return err
			}
			a, err := adapter.Open(cmd.Context(), list[0])
			if err != nil {
				return flagset.AdapterError(list[0], err)
			}
			if info, err := os.Stat(list[1]); err == nil && !info.IsDir() && !strings.HasSuffix(list[1], ".gguf") {
				return fmt.Errorf("%s is not a folder; name a folder, or a file that ends in .gguf", list[1])
			}
			if err := a.Save(list[1]); err != nil {
				return fmt.Errorf("cannot write: %w", err)
			}
			env.Say("%s: %s numbers", list[1], humanize.Comma(a.Parameters()))
			return nil
		},
	}
	force.Register(cmd.Flags())
	return cmd
}

// mergeCommand adds adapters to a model's weights.
type mergeCommand struct {
	env    *cli.Environment
	model  cli.ModelFlags
	lora   flagset.LoRA
	force  flagset.Force
	output string
	as     string
}

func newAdapterMerge(env *cli.Environment) *cobra.Command {
	m := &mergeCommand{env: env}
	cmd := &cobra.Command{
		Use:   "merge [MODEL]",
		Short: "Merge adapters into a model's weights",
		Long: `Write a model with adapters merged into its weights. Changed weights are quantized
again in their own type, which can lose part of a small adapter; --type keeps more.`,
		Example: cli.Examples(
			`gemwire adapter merge gemma4:e2b --lora my-adapter -o merged.gguf`,
			`gemwire adapter merge gemma4:e2b --lora my-adapter --lora another=0.5 --type Q8_0 -o merged.gguf`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return m.run(cmd.Context(), list) },
	}
	m.lora.Register(cmd.Flags())
	cmd.Flags().StringVarP(&m.output, "output", "o", "merged.gguf", "write to this `FILE`, or to standard output for -")
	cmd.Flags().StringVar(&m.as, "type", "",
		"write changed weights as this `TYPE`, such as Q8_0 or F16 (default: their own)")
	m.force.Register(cmd.Flags())
	m.model.RegisterReference(cmd.Flags())
	return cmd
}

func (m *mergeCommand) run(ctx context.Context, list []string) error {
	name, err := m.model.OneModel(list)
	if err != nil {
		return err
	}
	if err := cmp.Or(m.lora.Check(), m.force.Check(m.output)); err != nil {
		return err
	}
	progress := terminal.NewProgress(m.env.Err, true)
	defer progress.Clear()
	options := adapter.MergeOptions{Progress: func(done, total int64) { progress.Set("merging", done, total) }}
	if m.as != "" {
		t, err := quant.Parse(m.as)
		if err != nil {
			return cli.Usagef("--type %q: there is no such type; use Q8_0, F16, F32 or another of gemwire inspect's", m.as)
		}
		options.Type = &t
	}
	adapters, err := m.lora.Open(ctx)
	if err != nil {
		return err
	}
	file, err := m.model.OpenFile(ctx, m.env, name)
	if err != nil {
		return err
	}
	defer file.Close()
	own, err := m.model.OwnAdapters(ctx) // the model is meant with them
	if err != nil {
		return err
	}
	adapters = append(own, adapters...)
	if len(adapters) == 0 {
		return cli.Usagef("nothing to merge; add adapters with --lora")
	}
	err = m.env.WriteFile(m.output, func(w io.Writer) error { return adapter.Merge(ctx, w, file, adapters, options) })
	if err != nil {
		return err
	}
	progress.Clear()
	m.env.Say("%s: %s with %s", m.output, strings.TrimSpace("the model "+name), strings.Join(m.lora.Files, ", "))
	return nil
}
