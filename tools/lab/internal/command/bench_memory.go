package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
	"github.com/gemwire/gemwire/tools/lab/internal/synth"
)

// benchMemoryCommand plans models for devices of several sizes.
type benchMemoryCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	shapes  []string
	layers  int
	vocab   int
	mix     string
	budgets []string
	options measure.MemoryOptions
	json    bool
}

func newBenchMemory(env *cli.Environment) *cobra.Command {
	b := &benchMemoryCommand{env: env}
	cmd := &cobra.Command{
		Use:   "memory [MODEL...]",
		Short: "Plan models for devices of several sizes, and keep to it",
		Long: `Plan where a model's tensors live, and how long a context may be, with so much
memory as devices have: for a context of usual length, for the longest that fits,
and for the longest with a cache of 8 bits where that is longer. Without a MODEL it
plans for the released sizes, whose weights it makes up as they are read.

With --run each plan is kept to: the model is opened with that budget, over which
nothing is allocated, computes a prompt and some tokens, and what it took is compared
with what was promised. More than 1 % off is an error.`,
		Example: cli.Examples(
			`lab bench memory`,
			`lab bench memory --shapes e2b --run`,
			`lab bench memory gemma4:e2b --budgets 3GB,5GB --context 16384 --run --json`,
		),
		Args: cli.Args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&b.shapes, "shapes", []string{"e2b", "e4b", "12b", "26b", "31b"},
		"the `SHAPES` that are planned for where no MODEL is named: "+strings.Join(synth.Names(), ", "))
	flags.IntVar(&b.layers, "layers", 0, "take shapes with `N` layers instead of their own number")
	flags.IntVar(&b.vocab, "vocab", 0, "take shapes with a vocabulary of `N` tokens instead of their own")
	flags.StringVar(&b.mix, "mix", string(synth.OllamaMix),
		fmt.Sprintf("the shapes' `MIX` of types: %s or %s", synth.OllamaMix, synth.LlamaCppMix))
	flags.StringSliceVar(&b.budgets, "budgets", []string{"4GB", "6GB", "8GB", "16GB"},
		"plan with so much memory (`SIZES`), each")
	flags.IntVar(&b.options.Context, "context", gemma4.DefaultContext, "plan for this many `TOKENS` first")
	flags.BoolVar(&b.options.Run, "run", false, "keep to each plan, and compare")
	flags.BoolVar(&b.json, "json", false, "print the plans as JSON")
	b.model.RegisterGPU(flags, "use the GPU with this in its `NAME`")
	b.model.RegisterWGPU(flags)
	flags.Var(&b.model.MaxBinding, "max-binding",
		"behave like a GPU that binds at most this `SIZE` at once, such as 128MiB")
	return cmd
}

func (b *benchMemoryCommand) run(ctx context.Context, list []string) error {
	b.options.GPU = b.model.GPU()
	if b.options.Context < 1 {
		return cli.Usagef("--context %d: say how many tokens", b.options.Context)
	}
	for _, text := range b.budgets {
		var size cli.ByteSize
		if err := size.Set(text); err != nil {
			return cli.Usagef("--budgets: %v", err)
		}
		b.options.Budgets = append(b.options.Budgets, int64(size))
	}
	sources, err := b.sources(ctx, list)
	if err != nil {
		return err
	}
	rows, err := b.measure(ctx, sources)
	if err != nil {
		return cli.Advised(err)
	}
	if b.json {
		err = b.env.PrintJSON(rows)
	} else {
		printMemory(b.env.Out, rows, b.options.Run)
	}
	return errors.Join(err, measure.Kept(rows))
}

// memorySource is a model by name.
type memorySource struct {
	name string
	open func() (*gguf.File, error)
}

func (b *benchMemoryCommand) sources(ctx context.Context, list []string) (sources []memorySource, err error) {
	for _, name := range list {
		sources = append(sources,
			memorySource{name, func() (*gguf.File, error) { return b.model.OpenFile(ctx, b.env, name) }})
	}
	if len(list) > 0 {
		return sources, nil
	}
	for _, name := range b.shapes {
		shape, err := synth.Named(name)
		if err == nil && b.layers != 0 {
			shape, err = shape.WithLayers(b.layers)
		}
		if err != nil {
			return nil, cli.Usage(err)
		}
		if b.vocab != 0 {
			shape = shape.WithVocab(b.vocab)
		}
		source, err := synth.Open(ctx, synth.Options{Shape: shape, Mix: synth.Mix(b.mix), Seed: 1})
		if err != nil {
			return nil, cli.Usage(err)
		}
		sources = append(sources, memorySource{name, func() (*gguf.File, error) { return gguf.Open(ctx, source) }})
	}
	return sources, nil
}

func (b *benchMemoryCommand) measure(ctx context.Context,
	sources []memorySource) (rows []measure.MemoryRow, err error) {
	progress := terminal.NewProgress(b.env.Err, false)
	defer progress.Clear()
	b.options.Progress = func(what string) { progress.Set("running "+what, 0, 0) }
	for _, s := range sources {
		progress.Set("planning "+s.name, 0, 0)
		more, err := measure.Memory(ctx, s.name, s.open, b.options)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// printMemory prints a table as the documentation has it.
func printMemory(w io.Writer, rows []measure.MemoryRow, run bool) {
	columns := []string{
		"model",
		"memory",
		"context",
		"keys and values",
		"weights on the GPU",
		"left in the file",
		"work",
		"at once",
		"promised",
	}
	if run {
		columns = append(columns, "without guesses", "taken", "seconds")
	}
	line := func(cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
	line(columns)
	line(slices.Repeat([]string{"---"}, len(columns)))
	for _, r := range rows {
		p := r.Plan
		cells := []string{r.Model, humanize.Bytes(uint64(r.Budget))}
		if r.Misfit != "" {
			cells = append(cells,
				"does not fit: "+gigabyteCount(r.Promised)+" wanted with "+humanize.Comma(int64(p.Context))+" tokens")
		} else {
			cells = append(cells, humanize.Comma(int64(p.Context)),
				fmt.Sprintf("%s in %s", gigabyteCount(p.Cache+p.Checkpoints), p.KVCache),
				gigabyteCount(p.Weights), inFile(r), gigabyteCount(p.Activations+p.Drafts), fmt.Sprint(p.Chunk),
				gigabyteCount(r.Promised))
		}
		if run && r.Taken > 0 {
			promised := r.Unguessed()
			cells = append(cells, gigabyteCount(promised),
				fmt.Sprintf("%s (%+.2f %%)", gigabyteCount(r.Taken), 100*float64(r.Taken-promised)/float64(promised)),
				fmt.Sprintf("%.1f", r.Seconds))
		}
		line(append(cells, make([]string, len(columns)-len(cells))...))
	}
}

func inFile(r measure.MemoryRow) string {
	if len(r.InFile) == 0 {
		return ""
	}
	names := make([]string, len(r.InFile))
	for i, name := range r.InFile {
		names[i] = "`" + strings.TrimSuffix(name, ".weight") + "`"
	}
	return strings.Join(names, ", ") + ", " + gigabyteCount(r.Plan.Rows)
}

// gigabyteCount is a size to be compared with those of devices.
func gigabyteCount(n int64) string {
	if n < 1e8 {
		return humanize.Bytes(uint64(n))
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}
