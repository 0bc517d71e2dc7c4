package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/perplexity"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// perplexityFlags say which text a model is judged by, beside or instead of examples.
type perplexityFlags struct {
	text   string
	base   string
	chunks int
}

func (f *perplexityFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.text, "perplexity", "", "measure how well the model predicts the text in this `FILE`")
	flags.StringVar(&f.base, "kl-base", "", "compare with the model whose predictions are in this `FILE`; "+
		"where it does not exist, write this model's, with --perplexity")
	flags.IntVar(&f.chunks, "chunks", 0, "judge only the first `N` chunks of the text")
}

func (f *perplexityFlags) given() bool { return f.text != "" || f.base != "" }

func (f *perplexityFlags) check() error {
	switch {
	case f.chunks < 0:
		return cli.Usagef("--chunks is %d; it may not be negative", f.chunks)
	case f.chunks > 0 && !f.given():
		return cli.Usagef("--chunks is for --perplexity and --kl-base")
	case f.text == "" && f.base != "" && !f.baseExists():
		return cli.Usagef("--kl-base: there is no %s; add --perplexity FILE to write it", f.base)
	}
	return nil
}

func (f *perplexityFlags) baseExists() bool {
	_, err := os.Stat(f.base)
	return f.base != "" && !errors.Is(err, fs.ErrNotExist)
}

// judgeText is eval of a text: its perplexity, or how far the model is from another.
func (e *evalCommand) judgeText(ctx context.Context) error {
	compare := e.text.baseExists()
	if compare && e.text.text != "" {
		return cli.Usagef("%s is there already and has its text in it; leave --perplexity out to compare with it, "+
			"or remove the file to write it again", e.text.base)
	}
	size := e.model.Context
	var base *perplexity.Base
	if compare {
		file, err := os.Open(e.text.base)
		if err != nil {
			return err
		}
		defer file.Close()
		if base, err = openBase(file); err != nil {
			return fmt.Errorf("%s: %w", e.text.base, err)
		}
		if size != 0 && size != base.Context {
			return cli.Usagef("--context is %d, and %s has chunks of %d", size, e.text.base, base.Context)
		}
		size = base.Context
	}
	if size == 0 {
		size = perplexity.DefaultContext
	}
	e.model.Context = size
	model, err := e.model.Open(ctx, e.env, e.model.Model)
	if err != nil {
		return err
	}
	defer model.Close()
	if err := e.lora.Use(ctx, model); err != nil {
		return err
	}
	session, err := model.NewSession(size)
	if err != nil {
		return err
	}
	defer session.Close()
	tok := model.Tokenizer()
	options := perplexity.Options{Context: size, Chunks: e.text.chunks, NoBOS: !tok.AddBOS()}
	if !options.NoBOS {
		options.BOS = int32(tok.BOS())
	}
	if compare {
		return e.compareText(ctx, session, base, options)
	}
	return e.measureText(ctx, model, session, options)
}

func openBase(file *os.File) (*perplexity.Base, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return perplexity.OpenBase(file, info.Size())
}

func (e *evalCommand) measureText(ctx context.Context, model *gemma4.Model, session *gemma4.Session,
	options perplexity.Options) error {
	text, err := flagset.ReadFile(ctx, e.text.text, flagset.MaxSampleMB, "a text")
	if err != nil {
		return err
	}
	var tokens []int32
	for _, id := range model.Tokenizer().Encode(string(text)) {
		tokens = append(tokens, int32(id))
	}
	options.Progress = e.showProgress("perplexity")
	var result perplexity.Result
	measure := func(w io.Writer) (err error) {
		options.Base = w
		result, err = perplexity.Measure(ctx, session, tokens, options)
		return err
	}
	if e.text.base != "" {
		err = e.env.WriteFile(e.text.base, measure)
	} else {
		err = measure(nil)
	}
	if err != nil {
		return textError(e.text.text, err)
	}
	if e.json {
		return e.env.PrintJSON(result)
	}
	fmt.Fprintf(e.env.Out, "perplexity %s over %s, %s of %d\n", plusMinus(result.Perplexity, 1, 4),
		cli.Counted(result.Tokens, "token"), cli.Counted(result.Chunks, "chunk"), result.Context)
	if e.text.base != "" {
		e.env.Say("%s: this model's predictions; eval another model with --kl-base %s", e.text.base, e.text.base)
	}
	return nil
}

// textError says how a text that is too short can be judged.
func textError(name string, err error) error {
	if errors.Is(err, perplexity.ErrShort) {
		return fmt.Errorf("%s: %w; use a longer text or a smaller --context", name, err)
	}
	return cli.Advised(err)
}

// showProgress shows chunks, with what is known so far.
func (e *evalCommand) showProgress(what string) func(done, chunks int, sofar perplexity.Estimate) {
	progress := terminal.NewProgress(e.env.Err, false)
	return func(done, chunks int, _ perplexity.Estimate) {
		progress.Set("measuring "+what, int64(done), int64(chunks))
		if done == chunks {
			progress.Clear()
		}
	}
}

func (e *evalCommand) compareText(ctx context.Context, session *gemma4.Session, base *perplexity.Base,
	options perplexity.Options) error {
	options.Progress = e.showProgress("divergence")
	c, err := perplexity.Compare(ctx, session, base, options)
	if err != nil {
		return textError(e.text.base, err)
	}
	if e.json {
		return e.env.PrintJSON(c)
	}
	return printComparison(e.env.Out, &c)
}

// printComparison has llama-perplexity's lines.
func printComparison(out io.Writer, c *perplexity.Comparison) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(w, "%s\t%s\n", name, value) }
	row("tokens", fmt.Sprintf("%d, %s of %d", c.Tokens, cli.Counted(c.Chunks, "chunk"), c.Context))
	row("perplexity", plusMinus(c.Perplexity, 1, 4))
	row("base's perplexity", plusMinus(c.BasePerplexity, 1, 4))
	row("ratio", plusMinus(c.Ratio, 1, 4))
	row("ln of the ratio", plusMinus(c.LogRatio, 1, 4))
	row("difference", plusMinus(c.Difference, 1, 4))
	row("correlation of losses", fmt.Sprintf("%.2f %%", 100*c.Correlation))
	row("KL divergence, mean", plusMinus(c.KLDivergence, 1, 6))
	quantiles(row, &c.KLQuantiles, 1, 6)
	row("change of p, mean", plusMinus(c.MeanDelta, 100, 3)+" %")
	row("change of p, rms", plusMinus(c.RMSDelta, 100, 3)+" %")
	quantiles(row, &c.DeltaQuantiles, 100, 3)
	row("same most likely token", plusMinus(c.SameTop, 100, 3)+" %")
	return w.Flush()
}

func quantiles(row func(name, value string), q *perplexity.Quantiles, factor float64, digits int) {
	for _, line := range []struct {
		name  string
		value float64
	}{
		{"largest", q.Max}, {"99.9 %", q.P999}, {"99 %", q.P99}, {"95 %", q.P95}, {"90 %", q.P90}, {"median", q.Median},
		{"10 %", q.P10}, {"5 %", q.P5}, {"1 %", q.P1}, {"0.1 %", q.P01}, {"smallest", q.Min},
	} {
		row("  "+line.name, fmt.Sprintf("%.*f", digits, factor*line.value))
	}
}

// plusMinus is a number with its error.
func plusMinus(e perplexity.Estimate, factor float64, digits int) string {
	if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
		return fmt.Sprint(e.Value)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, factor*e.Value, digits, factor*e.Error)
}
