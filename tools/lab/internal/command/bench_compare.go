package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/lab/internal/llamacpp"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

// benchCompareCommand measures a model here and in llama.cpp, by turns.
type benchCompareCommand struct {
	env         *cli.Environment
	model       cli.ModelFlags
	options     measure.CompareOptions
	llama       string
	wanted      string // backend, empty for the best one that is there
	backend     string // the one that is taken
	threads     int
	promptBatch int
	json        bool
}

func newBenchCompare(env *cli.Environment) *cobra.Command {
	b := &benchCompareCommand{env: env}
	cmd := &cobra.Command{
		Use:   "compare [MODEL]",
		Short: "Measure a model here and in llama.cpp, by turns",
		Long: `Measure a model with gemwire and with llama.cpp's prebuilt libraries, on the same
machine, file and tokens. The two take turns; shown are the medians, and how many
times as fast gemwire is, turn by turn.

The libraries are looked for in npm's packages (@node-llama-cpp/…), in this folder
and those above it, then the global ones, and where the system keeps libraries;
--llama or $GEMWIRE_LLAMA names another folder. Both programs hold the model at the
same time, so there has to be memory for two. llama.cpp takes no image and audio
towers in a text model's file: a copy without them is made for both, in $TMPDIR.`,
		Example: cli.Examples(
			`lab bench compare gemma4:e2b`,
			`lab bench compare gemma4:e2b --backend vulkan --json`,
			`lab bench compare gemma4:e2b --contexts 0,16000 --prompts 2048 --repeats 3`,
			`lab bench compare --device cpu --contexts 0,500`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return b.run(cmd.Context(), list, cmd.Flags().Changed("contexts") || cmd.Flags().Changed("prompts"))
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&b.options.Contexts, "contexts", []int{0, 4000, 30000}, "decode behind so many `TOKENS`")
	flags.IntSliceVar(&b.options.Prompts, "prompts", []int{512, 2048}, "compute prompts of so many `TOKENS`")
	flags.IntVar(&b.options.DecodeTokens, "decode-tokens", 128, "decode `N` tokens")
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` turns of each")
	flags.IntVar(&b.options.Loads, "loads", 3, "measure loading `N` times; 0 leaves it out")
	flags.StringVar(&b.llama, "llama", "", "the `FOLDER` of llama.cpp's libraries")
	flags.StringVar(
		&b.wanted,
		"backend",
		"",
		"what llama.cpp computes with, `cuda|vulkan|metal|cpu` (default: the first of them that is there, and the CPU "+
			"with --device cpu)",
	)
	flags.IntVar(&b.threads, "threads", runtime.NumCPU(), "give llama.cpp `N` threads of the CPU")
	flags.IntVar(&b.promptBatch, "microbatch", 2048, "let llama.cpp compute `N` tokens of a prompt at once")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.RegisterReference(flags)
	b.model.DeviceFlags.Register(flags)
	return cmd
}

func (b *benchCompareCommand) run(ctx context.Context, list []string, sizesGiven bool) error {
	name, err := b.model.OneModel(list)
	if err == nil {
		err = b.model.Check()
	}
	if err != nil {
		return err
	}
	if b.threads < 1 || b.promptBatch < 1 {
		return cli.Usagef("--threads and --microbatch must be at least 1")
	}
	if b.wanted == "" && b.model.Device == string(gemma4.DeviceCPU) {
		b.wanted = string(llamacpp.CPU)
	}
	lib, err := b.openLibrary()
	if err != nil {
		return err
	}
	file, clean, err := b.textPart(ctx, name)
	if err != nil {
		return err
	}
	defer clean()
	report, err := b.compare(ctx, lib, file, sizesGiven)
	if err != nil {
		return err
	}
	if b.json {
		return b.env.PrintJSON(report)
	}
	printComparison(b.env.Out, report)
	return nil
}

func (b *benchCompareCommand) openLibrary() (*llamacpp.Library, error) {
	folder, err := llamacpp.Find(
		llamacpp.FindOptions{Given: b.llama, Backend: llamacpp.Backend(b.wanted), Getenv: b.env.Getenv})
	if err != nil {
		return nil, err
	}
	// One that is there and does not work is said, not passed over for the CPU.
	b.backend = string(folder.Backends[0])
	if b.wanted != "" {
		b.backend = b.wanted
	}
	return llamacpp.Open(folder)
}

// textPart is the path of the model without towers: its own where it has none.
// clean takes a copy away again.
func (b *benchCompareCommand) textPart(ctx context.Context, name string) (path string, clean func(), err error) {
	nothing := func() {}
	ref, err := b.env.Finder().Find(name)
	if err != nil {
		return "", nothing, err
	}
	if ref.Kind == modelref.URL {
		return "", nothing, cli.Usagef("%s: llama.cpp reads files only; fetch it first with gemwire pull", name)
	}
	file, err := b.model.OpenFile(ctx, b.env, name)
	if err != nil {
		return "", nothing, err
	}
	defer file.Close()
	if ref.Path != "" && !llamacpp.HasTowers(file) {
		return ref.Path, nothing, nil
	}
	return b.writeTextPart(ctx, file)
}

func (b *benchCompareCommand) writeTextPart(ctx context.Context,
	file *gguf.File) (path string, clean func(), err error) {
	nothing := func() {}
	out, err := os.CreateTemp("", "gemwire-text-*.gguf")
	if err != nil {
		return "", nothing, err
	}
	remove := func() { os.Remove(out.Name()) }
	progress := terminal.NewProgress(b.env.Err, true)
	defer progress.Clear()
	err = llamacpp.WriteTextPart(ctx, out, file,
		func(done, total int64) { progress.Set("copying without towers", done, total) })
	if err := errors.Join(err, out.Close()); err != nil {
		remove()
		return "", nothing, fmt.Errorf("%s: %w", out.Name(), err)
	}
	return out.Name(), remove, nil
}

// comparison is a report with what was compared.
type comparison struct {
	Model     string `json:"model"`
	FileBytes int64  `json:"file_bytes"` // of what both read
	measure.CompareReport
}

func (b *benchCompareCommand) compare(ctx context.Context, lib *llamacpp.Library, file string,
	sizesGiven bool) (report comparison, err error) {
	info, err := b.facts(ctx, file)
	if err != nil {
		return report, err
	}
	o := b.options
	o.Vocab = info.Vocab
	if !sizesGiven {
		o.Contexts, o.Prompts = b.fitting(info.MaxContext)
	}
	if o.MaxTokens() > info.MaxContext {
		return report, cli.Usagef(
			"%d tokens in total are more than the %d this model can hold; see --contexts and --prompts", o.MaxTokens(),
			info.MaxContext)
	}
	ours := &measure.Gemwire{
		Version: cli.Version(),
		Tokens:  o.MaxTokens(),
		OpenModel: func(ctx context.Context, tokens int) (*gemma4.Model, error) {
			b.model.Context = tokens
			return b.model.Open(ctx, b.env, file)
		},
	}
	theirs := &measure.LlamaCPP{
		Library: lib, File: file, Backend: llamacpp.Backend(b.backend), Tokens: o.MaxTokens(), Vocab: info.Vocab,
		Threads:     b.threads,
		PromptBatch: b.promptBatch, DecodeBatch: 512,
	}
	report.Model, report.FileBytes = info.Name, info.FileSize
	progress := terminal.NewProgress(b.env.Err, false)
	defer progress.Clear()
	o.Progress = func(what string, done, total int) { progress.Set(what, int64(done), int64(total)) }
	report.CompareReport, err = measure.Compare(ctx, [2]measure.Contender{ours, theirs}, o)
	if errors.Is(err, bench.ErrOptions) {
		return report, cli.Usage(err)
	}
	if err != nil {
		return report, cli.Advised(err)
	}
	return report, nil
}

// modelFacts are of a file that is not open for computing.
type modelFacts struct {
	Name              string
	Vocab, MaxContext int
	FileSize          int64
}

func (b *benchCompareCommand) facts(ctx context.Context, path string) (modelFacts, error) {
	file, err := gguf.OpenPath(ctx, path)
	if err != nil {
		return modelFacts{}, err
	}
	defer file.Close()
	model, err := arch.Open(file)
	if err != nil {
		return modelFacts{}, err
	}
	name, err := file.Meta.String("general.name")
	if err != nil {
		name = path
	}
	return modelFacts{
		Name: name, Vocab: model.Config.Vocab, MaxContext: model.Config.ContextLength, FileSize: file.Size(),
	}, nil
}

// fitting are the sizes that nobody asked for by name, as far as the model takes
// them.
func (b *benchCompareCommand) fitting(most int) (contexts, prompts []int) {
	for _, n := range b.options.Contexts {
		if n+b.options.DecodeTokens < most {
			contexts = append(contexts, n)
		}
	}
	for _, n := range b.options.Prompts {
		if n < most {
			prompts = append(prompts, n)
		}
	}
	return contexts, prompts
}

// printComparison shows a comparison to people.
func printComparison(w io.Writer, c comparison) {
	fmt.Fprintf(w, "model     %s, %s\n", c.Model, humanize.Bytes(uint64(c.FileBytes)))
	for i, name := range c.Names {
		fmt.Fprintf(w, "%-9s %s on %s\n", strings.Fields(name)[0], name, c.Devices[i])
	}
	if c.Chosen > 0 {
		fmt.Fprintf(w, "agreed    the first %d of %d tokens\n", c.Agreed, c.Chosen)
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\tgemwire\t\tllama.cpp\t\ttimes as fast\t\t\n")
	for _, row := range c.Rows {
		shown, unit := row.Rates, "tokens/s"
		if row.What == measure.RowLoad {
			shown, unit = row.Seconds, "s"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t\n", rowName(row)+", "+unit, bench.Figure(shown[0].Median),
			ends(shown[0], bench.Figure), bench.Figure(shown[1].Median), ends(shown[1], bench.Figure), row.Ratio.Median,
			ends(row.Ratio, func(v float64) string { return fmt.Sprintf("%.2f", v) }))
	}
	table.Flush()
}

func rowName(row measure.CompareRow) string {
	switch row.What {
	case measure.RowPrefill:
		return fmt.Sprintf("prefill of %d", row.Tokens)
	case measure.RowDecode:
		return fmt.Sprintf("decode behind %d", row.Tokens)
	}
	return "load and first token"
}

// ends are the least and the most of the turns.
func ends(s bench.Series, show func(float64) string) string {
	if len(s.Runs) < 2 {
		return ""
	}
	return "(" + show(s.Min) + " to " + show(s.Max) + ")"
}
