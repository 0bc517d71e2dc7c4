package modelfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gguf/imatrix"
	"github.com/gemwire/gemwire/gguf/quantize"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// quantizeCommand writes a model in fewer bits.
type quantizeCommand struct {
	env   *cli.Environment
	model cli.ModelFlags
	force flagset.Force

	imatrix    string
	overrides  []string
	output     string
	embedding  string
	pure       bool
	requantize bool
	dryRun     bool
	json       bool
}

// NewQuantize makes the command quantize.
func NewQuantize(env *cli.Environment) *cobra.Command {
	q := &quantizeCommand{env: env}
	cmd := &cobra.Command{
		Use:   "quantize IN OUT TYPE",
		Short: "Write a model in fewer bits",
		Long: `Write a model in fewer bits. TYPE is one of llama.cpp's mixes, and each tensor gets the
type that llama.cpp gives it:

` + mixTable() + `
IN is best a model in 16 bits. OUT appears when it is complete. Memory stays below
1 GiB whatever the size of the model. Towers in the same file are copied.`,
		Example: cli.Examples(
			`gemwire quantize model-BF16.gguf model-Q4_K_M.gguf Q4_K_M`,
			`gemwire quantize model-BF16.gguf model-IQ2_M.gguf IQ2_M --imatrix model.imatrix.gguf`,
			`gemwire quantize model-BF16.gguf mine.gguf Q4_K_M --tensor-type ffn_down=q6_k --dry-run`,
		),
		Args: cli.Args(cobra.ExactArgs(3)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return q.run(cmd.Context(), list[0], list[1], list[2])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.imatrix, "imatrix", "",
		"spend the error where this importance matrix says it matters least: a `FILE` of gemwire imatrix or llama.cpp's")
	flags.StringArrayVar(&q.overrides, "tensor-type", nil,
		"write tensors whose names match as this type: `PATTERN=TYPE`, such as ffn_down=q8_0; repeatable, the first counts")
	flags.StringVar(&q.output, "output-tensor-type", "", "write the output head as this `TYPE`")
	flags.StringVar(&q.embedding, "token-embedding-type", "", "write the tables of tokens as this `TYPE`")
	flags.BoolVar(&q.pure, "pure", false, "write every matrix as the mix's own type")
	flags.BoolVar(&q.requantize, "allow-requantize", false,
		"take a model that is quantized already; the result is worse than from 16 bits")
	flags.BoolVar(&q.dryRun, "dry-run", false, "show each tensor's type and the size, and write nothing")
	flags.BoolVar(&q.json, "json", false, "print one JSON object")
	q.force.Register(flags)
	flags.StringArrayVar(&q.model.Headers, "header", nil,
		"send this `HEADER` with requests to a URL, such as \"Authorization: Bearer …\"")
	return cmd
}

// mixTable lists the mixes for the help.
func mixTable() string {
	var b strings.Builder
	for _, m := range quantize.Mixes() {
		fmt.Fprintf(&b, "  %-10s %s\n", m.Name, m.Note)
	}
	return b.String()
}

func (q *quantizeCommand) run(ctx context.Context, in, out, mix string) error {
	opts, err := q.options(ctx, mix)
	if err != nil {
		return err
	}
	if sameFile(in, out) {
		return cli.Usagef("%s is the input; name another file to write to", out)
	}
	if !q.dryRun {
		if err := q.force.Check(out); err != nil {
			return err
		}
	}
	file, err := q.model.OpenFile(ctx, q.env, in)
	if err != nil {
		return err
	}
	defer file.Close()
	plan, err := quantize.NewPlan(file, opts)
	if err != nil {
		return quantizeError(in, err)
	}
	if q.dryRun {
		return q.show(plan, opts.Mix)
	}
	if err := plan.CheckImportance(); err != nil {
		return quantizeError(in, err)
	}
	began := time.Now()
	if err := q.write(ctx, plan, out); err != nil {
		return quantizeError(in, err)
	}
	if q.json {
		return q.env.PrintJSON(describePlan(plan, opts.Mix, out, time.Since(began)))
	}
	q.env.Say("%s: %s", out, summary(plan))
	return nil
}

func (q *quantizeCommand) options(ctx context.Context, mix string) (opts quantize.Options, err error) {
	opts = quantize.Options{Pure: q.pure, Requantize: q.requantize, ImportanceName: q.imatrix}
	if opts.Mix, err = quantize.ParseMix(mix); err != nil {
		return opts, cli.Usagef("TYPE %v", err)
	}
	for _, text := range q.overrides {
		o, err := quantize.ParseOverride(text)
		if err != nil {
			return opts, cli.Usagef("--tensor-type %w", err)
		}
		opts.Overrides = append(opts.Overrides, o)
	}
	if opts.Output, err = typeFlag("--output-tensor-type", q.output); err != nil {
		return opts, err
	}
	if opts.TokenEmbedding, err = typeFlag("--token-embedding-type", q.embedding); err != nil {
		return opts, err
	}
	if q.imatrix != "" {
		opts.Importance, err = imatrix.Open(ctx, q.imatrix)
	}
	return opts, err
}

func typeFlag(flag, name string) (*quant.Type, error) {
	if name == "" {
		return nil, nil
	}
	t, err := quantize.ParseType(name)
	if err != nil {
		return nil, cli.Usagef("%s: %v", flag, err)
	}
	return &t, nil
}

// quantizeError adds what to do.
func quantizeError(in string, err error) error {
	switch {
	case errors.Is(err, quantize.ErrRequantize):
		return fmt.Errorf("%s: %w; take the model in 16 bits, or --allow-requantize, which loses more", in, err)
	case errors.Is(err, quantize.ErrImportance):
		return fmt.Errorf("%w; make one with gemwire imatrix, and name it with --imatrix", err)
	}
	return err
}

func (q *quantizeCommand) write(ctx context.Context, plan *quantize.Plan, out string) error {
	progress := terminal.NewProgress(q.env.Err, true)
	defer progress.Clear()
	return q.env.WriteFile(out, func(w io.Writer) error {
		return plan.Write(ctx, w, func(done, total int64) { progress.Set("quantizing", done, total) })
	})
}

// summary is what came out, in a sentence.
func summary(p *quantize.Plan) string {
	after, before := humanize.Bytes(uint64(p.After)), humanize.Bytes(uint64(p.Before))
	text := fmt.Sprintf("%s from %s, %.2f bits per weight", after, before, bitsPerWeight(p))
	if p.Fallbacks > 0 {
		text += "; rows of " + cli.Counted(p.Fallbacks, "tensor") + " need another type"
	}
	return text
}

func bitsPerWeight(p *quantize.Plan) float64 {
	return 8 * float64(p.After) / float64(max(p.Weights, 1))
}

// planJSON is a plan for programs.
type planJSON struct {
	Output        string        `json:"output,omitempty"`
	Mix           string        `json:"mix"`
	Bytes         int64         `json:"bytes"` // of all tensors
	BytesBefore   int64         `json:"bytesBefore"`
	BitsPerWeight float64       `json:"bitsPerWeight"`
	Fallbacks     int           `json:"fallbacks"`
	NeedsImatrix  bool          `json:"needsImatrix"`
	Seconds       float64       `json:"seconds,omitempty"`
	Tensors       []plannedJSON `json:"tensors"`
}

type plannedJSON struct {
	Name     string   `json:"name"`
	Shape    []uint64 `json:"shape"` // the length of a row first
	From     string   `json:"from"`
	To       string   `json:"to"`
	Bytes    int64    `json:"bytes"`
	Fallback string   `json:"fallbackFor,omitempty"`
}

func describePlan(p *quantize.Plan, mix quantize.Mix, out string, took time.Duration) planJSON {
	j := planJSON{
		Output: out, Mix: mix.Name, Bytes: p.After, BytesBefore: p.Before, BitsPerWeight: bitsPerWeight(p),
		Fallbacks: p.Fallbacks, Seconds: took.Seconds(),
	}
	for i := range p.Tensors {
		t := &p.Tensors[i]
		line := plannedJSON{Name: t.Name, Shape: t.Dims, From: t.Type.String(), To: t.To.String(), Bytes: t.Size}
		if t.Wanted != t.To {
			line.Fallback = t.Wanted.String()
		}
		j.NeedsImatrix = j.NeedsImatrix || t.NeedsImportance
		j.Tensors = append(j.Tensors, line)
	}
	return j
}

// show prints what would be written.
func (q *quantizeCommand) show(plan *quantize.Plan, mix quantize.Mix) error {
	described := describePlan(plan, mix, "", 0)
	if q.json {
		return q.env.PrintJSON(described)
	}
	w := tabwriter.NewWriter(q.env.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TENSOR\tSHAPE\tFROM\tTO\tSIZE")
	for _, t := range described.Tensors {
		to := t.To
		if t.Fallback != "" {
			to += " (for " + t.Fallback + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.Name, shapeText(t.Shape), t.From, to, humanize.Bytes(uint64(t.Bytes)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(q.env.Out, "\n%s: %s\n", mix.Name, summary(plan))
	if described.NeedsImatrix && plan.CheckImportance() != nil {
		q.env.Say("Writing it needs an importance matrix: make one with gemwire imatrix, and name it with --imatrix.")
	}
	return nil
}

func shapeText(dims []uint64) string {
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = fmt.Sprint(d)
	}
	return strings.Join(parts, "×")
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
