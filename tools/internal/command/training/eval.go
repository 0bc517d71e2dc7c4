package training

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// evalCommand judges a model by examples.
type evalCommand struct {
	env       *cli.Environment
	model     cli.ModelFlags
	media     flagset.Media
	lora      flagset.LoRA
	examples  flagset.Examples
	text      perplexityFlags
	maxTokens int
	limit     int
	wrong     bool
	json      bool
}

func NewEval(env *cli.Environment) *cobra.Command {
	e := &evalCommand{env: env}
	e.examples.Media = &e.media
	cmd := &cobra.Command{
		Use:   "eval [DATA]",
		Short: "Evaluate a model on examples or on a text",
		Long: `Evaluate a model on a JSONL file in gemwire train's formats: the mean loss of the
answers' tokens, the perplexity, and how many answers the model gives exactly,
always taking the most likely token. With --lora, once without the adapters and
once with them.

With --perplexity, on a plain text instead, in chunks of --context tokens (512),
as llama.cpp's llama-perplexity does. --kl-base keeps the model's predictions in a
file, and later compares another model with them, such as the same in fewer bits:
the Kullback-Leibler divergence, and how often both find the same token likeliest.`,
		Example: cli.Examples(
			`gemwire eval questions.jsonl`,
			`gemwire eval questions.jsonl --lora my-adapter`,
			`gemwire eval questions.jsonl --model gemma4:e2b --lora my-adapter --wrong --limit 50`,
			`gemwire eval --perplexity text.txt --kl-base base.bin --model model-BF16.gguf`,
			`gemwire eval --kl-base base.bin --model model-Q4_K_M.gguf`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return e.runOne(cmd.Context(), list) },
	}
	e.lora.Register(cmd.Flags())
	cmd.Flags().IntVar(&e.maxTokens, "max-tokens", 256,
		"answer with at most `N` tokens; 0 gives no answers, only the loss")
	cmd.Flags().IntVar(&e.limit, "limit", 0, "use only the first `N` lines")
	cmd.Flags().BoolVar(&e.wrong, "wrong", false, "show the answers that differ from the examples")
	cmd.Flags().BoolVar(&e.json, "json", false, "print one JSON object")
	e.text.register(cmd.Flags())
	e.examples.Register(cmd.Flags())
	e.model.Register(cmd.Flags())
	e.media.Register(cmd.Flags())
	return cmd
}

// evalResult is how a model did.
type evalResult struct {
	Adapters   []string `json:"adapters,omitempty"`
	Loss       float64  `json:"loss"` // the mean over the targets
	Perplexity float64  `json:"perplexity"`
	Targets    int      `json:"targets"`
	Exact      int      `json:"exact"`
	Asked      int      `json:"asked"`
}

// runOne judges by examples or by a text.
func (e *evalCommand) runOne(ctx context.Context, list []string) error {
	if err := e.text.check(); err != nil {
		return err
	}
	switch {
	case len(list) == 0 && !e.text.given():
		return cli.Usagef("name a file of examples, or a text with --perplexity")
	case len(list) == 1 && e.text.given():
		return cli.Usagef("%s is a file of examples; --perplexity and --kl-base take no examples", list[0])
	case len(list) == 1:
		return e.run(ctx, list[0])
	}
	if err := e.lora.Check(); err != nil {
		return err
	}
	return e.judgeText(ctx)
}

func (e *evalCommand) run(ctx context.Context, path string) error {
	if e.maxTokens < 0 || e.limit < 0 {
		return cli.Usagef("--max-tokens is %d and --limit %d; neither may be negative", e.maxTokens, e.limit)
	}
	for _, check := range []func() error{e.lora.Check, e.examples.Check, e.media.Check} {
		if err := check(); err != nil {
			return err
		}
	}
	model, err := e.model.Open(ctx, e.env, e.model.Model)
	if err != nil {
		return err
	}
	defer model.Close()
	if _, err := e.media.Attach(e.env, model); err != nil {
		return err
	}
	set, err := e.examples.Read(ctx, e.env, model, path)
	if errors.Is(err, dataset.ErrLine) && isPlainText(path) {
		return fmt.Errorf("%s holds no examples in JSON; --perplexity %[1]s judges by a plain text", path)
	}
	if err != nil {
		return err
	}
	flagset.WarnOf(e.env, set)
	if n := e.limit; n > 0 && n < len(set.Records) {
		set.Records, set.Examples = set.Records[:n], set.Examples[:n]
	}
	results, err := e.judgeBoth(ctx, model, set)
	if err != nil {
		return cli.Advised(err)
	}
	return e.print(results)
}

// isPlainText says whether a file begins as no JSON does.
func isPlainText(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	begin := make([]byte, 512)
	n, _ := io.ReadFull(file, begin)
	begin = bytes.TrimSpace(begin[:n])
	return len(begin) > 0 && begin[0] != '{' && begin[0] != '['
}

// judgeBoth judges without adapters and, where there are some, with them.
func (e *evalCommand) judgeBoth(ctx context.Context, model *gemma4.Model, set *dataset.Set) ([]evalResult, error) {
	base, err := e.judge(ctx, model, set)
	if err != nil || len(e.lora.Files) == 0 {
		return []evalResult{base}, err
	}
	if err := e.lora.Use(ctx, model); err != nil {
		return nil, err
	}
	adapted, err := e.judge(ctx, model, set)
	adapted.Adapters = e.lora.Files
	return []evalResult{base, adapted}, err
}

func (e *evalCommand) judge(ctx context.Context, model *gemma4.Model, set *dataset.Set) (r evalResult, err error) {
	session, err := model.NewSession(0)
	if err != nil {
		return r, err
	}
	defer session.Close()
	progress := terminal.NewProgress(e.env.Err, false)
	defer progress.Clear()
	sum := 0.0
	for i := range set.Records {
		progress.Set("judging", int64(i), int64(len(set.Records)))
		for _, example := range set.Examples[i] {
			loss, err := lossOf(ctx, session, &example)
			if err != nil {
				return r, fmt.Errorf("line %d: %w", example.Line, err)
			}
			sum += loss
			r.Targets += example.Asked()
		}
		if err := e.ask(ctx, session, &set.Records[i], progress, &r); err != nil {
			return r, fmt.Errorf("line %d: %w", set.Records[i].Line, err)
		}
	}
	r.Loss = sum / float64(max(r.Targets, 1))
	r.Perplexity = math.Exp(r.Loss)
	return r, nil
}

// lossOf is Σ −log p over an example's targets.
func lossOf(ctx context.Context, session *gemma4.Session, e *dataset.Example) (sum float64, err error) {
	prompt := gemma4.Prompt{Media: e.Media}
	for _, t := range e.Tokens {
		prompt.Tokens = append(prompt.Tokens, t.ID)
	}
	err = session.Logits(ctx, prompt, func(i int, row []float32) error {
		if target := e.Targets[i]; target != tape.NoTarget {
			sum += surprise(row, target)
		}
		return nil
	})
	return sum, err
}

// surprise is −log p of a token under the softmax of logits.
func surprise(logits []float32, token int32) float64 {
	top, sum := slices.Max(logits), 0.0
	for _, v := range logits {
		sum += math.Exp(float64(v - top))
	}
	return math.Log(sum) + float64(top-logits[token])
}

// ask lets the model answer a record's last question.
func (e *evalCommand) ask(ctx context.Context, session *gemma4.Session, record *dataset.Record,
	progress *terminal.Progress, r *evalResult) error {
	if record.IsText() || e.maxTokens == 0 {
		return nil
	}
	question := record.Conversation
	last := len(question.Messages) - 1
	want := question.Messages[last]
	if len(want.ToolCalls) > 0 {
		return nil // a call has many spellings
	}
	question.Messages = question.Messages[:last]
	var answer strings.Builder
	for event, err := range session.Chat(ctx, question, gemma4.GenerateOptions{MaxTokens: e.maxTokens}) {
		if err != nil {
			return err
		}
		if event.Kind == chat.TextEvent {
			answer.WriteString(event.Text)
		}
	}
	got, wanted := strings.TrimSpace(answer.String()), strings.TrimSpace(want.Content.String())
	if r.Asked++; got == wanted {
		r.Exact++
	} else if e.wrong {
		progress.Clear()
		e.env.Say("line %d: %s\n  wanted %q\n  got    %q", record.Line,
			flagset.Harmless(question.Messages[last-1].Content.String()), wanted, got)
	}
	return nil
}

func (e *evalCommand) print(results []evalResult) error {
	if e.json {
		out := map[string]evalResult{"base": results[0]}
		if len(results) > 1 {
			out["adapted"] = results[1]
		}
		return e.env.PrintJSON(out)
	}
	w := tabwriter.NewWriter(e.env.Out, 0, 0, 3, ' ', 0)
	row := func(name string, value func(r evalResult) string) {
		fmt.Fprint(w, name)
		for _, r := range results {
			fmt.Fprint(w, "\t", value(r))
		}
		fmt.Fprintln(w)
	}
	row("", func(r evalResult) string {
		if r.Adapters == nil {
			return "model"
		}
		return "with " + strings.Join(r.Adapters, ", ")
	})
	row("loss", func(r evalResult) string { return fmt.Sprintf("%.4f", r.Loss) })
	row("perplexity", func(r evalResult) string { return fmt.Sprintf("%.4g", r.Perplexity) })
	row("exact answers", func(r evalResult) string { return fmt.Sprintf("%d of %d", r.Exact, r.Asked) })
	return w.Flush()
}
