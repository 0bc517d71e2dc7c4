package command

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

func newAdapter(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "adapter",
		Short: "Look into LoRA adapters, convert them, merge them into a model",
		Example: examples(
			`gemwire adapter inspect my-adapter`,
			`gemwire adapter convert my-adapter my-adapter.gguf`,
			`gemwire adapter merge gemma4:e2b --lora my-adapter -o merged.gguf`,
		),
		Args: args(cobra.NoArgs),
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

func newAdapterInspect(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect ADAPTER",
		Short: "Show what an adapter changes",
		Example: examples(
			`gemwire adapter inspect my-adapter`,
			`gemwire adapter inspect my-adapter.gguf --json`,
		),
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			a, err := adapter.Open(cmd.Context(), list[0])
			if err != nil {
				return err
			}
			if asJSON {
				return env.printJSON(describeAdapter(a))
			}
			return printAdapter(env.out, describeAdapter(a))
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
		fmt.Fprintf(&b, "%-12s %s\n", "trained on", printable(a.Base))
	}
	fmt.Fprintf(&b, "%-12s %s numbers, %s\n", "holds", humanize.Comma(a.Parameters), humanize.Bytes(uint64(a.Bytes)))
	fmt.Fprintf(&b, "%-12s %d to %d, %d of them\n", "layers", a.Layers[0], a.Layers[len(a.Layers)-1], len(a.Layers))
	for _, l := range a.Linears {
		fmt.Fprintf(&b, "%-12s in %d layers, rank %s, alpha %s\n", l.Name, l.Layers, listed(l.Ranks), listed(l.Alphas))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// listed is values with commas between them.
func listed[T any](values []T) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", ", ")
}

func newAdapterConvert(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "convert ADAPTER TO",
		Short: "Write an adapter in the other form",
		Long: `Write an adapter in another form: as llama.cpp's file where TO ends in .gguf, and
as PEFT's folder otherwise.`,
		Example: examples(
			`gemwire adapter convert my-adapter my-adapter.gguf`,
			`gemwire adapter convert my-adapter.gguf my-adapter`,
		),
		Args: args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, list []string) error {
			a, err := adapter.Open(cmd.Context(), list[0])
			if err != nil {
				return err
			}
			if err := a.Save(list[1]); err != nil {
				return fmt.Errorf("writing %s: %w", list[1], err)
			}
			env.say("%s: %s numbers", list[1], humanize.Comma(a.Parameters()))
			return nil
		},
	}
}

// mergeCommand adds adapters to a model's weights.
type mergeCommand struct {
	env    *environment
	model  modelFlags
	lora   loraFlags
	output string
	as     string
}

func newAdapterMerge(env *environment) *cobra.Command {
	m := &mergeCommand{env: env}
	cmd := &cobra.Command{
		Use:   "merge [MODEL]",
		Short: "Write a model with adapters in its weights",
		Long: `Write a model into whose weights adapters are added. What they change is rounded to
its own type again, which can lose part of a small adapter; --type keeps more.`,
		Example: examples(
			`gemwire adapter merge gemma4:e2b --lora my-adapter -o merged.gguf`,
			`gemwire adapter merge gemma4:e2b --lora my-adapter --lora another=0.5 --type Q8_0 -o merged.gguf`,
		),
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return m.run(cmd.Context(), list) },
	}
	m.lora.register(cmd.Flags())
	cmd.Flags().StringVarP(&m.output, "output", "o", "merged.gguf", "write to this `FILE`, or to standard output for -")
	cmd.Flags().StringVar(&m.as, "type", "", "write what is changed as this `TYPE`, such as Q8_0 or F16 (default: its own)")
	m.model.registerReference(cmd.Flags())
	return cmd
}

func (m *mergeCommand) run(ctx context.Context, list []string) error {
	name, err := m.model.oneModel(list)
	if err != nil {
		return err
	}
	if len(m.lora.files) == 0 {
		return usagef("nothing to merge; name adapters with --lora")
	}
	if err := m.lora.check(); err != nil {
		return err
	}
	progress := terminal.NewProgress(m.env.err, true)
	defer progress.Clear()
	options := adapter.MergeOptions{Progress: func(done, total int64) { progress.Set("merging", done, total) }}
	if m.as != "" {
		t, err := quant.Parse(m.as)
		if err != nil {
			return usageError{err}
		}
		options.Type = &t
	}
	adapters, err := m.lora.open(ctx)
	if err != nil {
		return err
	}
	file, err := m.model.openFile(ctx, m.env, name)
	if err != nil {
		return err
	}
	defer file.Close()
	err = m.env.writeFile(m.output, func(w io.Writer) error { return adapter.Merge(ctx, w, file, adapters, options) })
	if err != nil {
		return fmt.Errorf("writing %s: %w", m.output, err)
	}
	progress.Clear()
	m.env.say("%s: %s with %s", m.output, strings.TrimSpace("the model "+name), strings.Join(m.lora.files, ", "))
	return nil
}
