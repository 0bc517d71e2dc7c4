package numbers

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// logitsCommand writes what a model makes of given tokens.
type logitsCommand struct {
	env    *cli.Environment
	model  cli.ModelFlags
	lora   flagset.LoRA
	force  flagset.Force
	ids    string
	prompt string
	output string
	json   bool
}

func NewLogits(env *cli.Environment) *cobra.Command {
	l := &logitsCommand{env: env}
	cmd := &cobra.Command{
		Use:   "logits [MODEL] --ids IDS -o FILE",
		Short: "Write a model's logits for given tokens",
		Long: `Write the logits of every position, after the softcap, as a safetensors file with
one float32 tensor, logits [tokens, vocabulary].

Give the tokens as ids, or as text with control tokens. The
token that begins a text is added if it is missing.`,
		Example: cli.Examples(
			`gemwire logits gemma4:e2b --ids 2,105,2364,107 -o logits.safetensors`,
			`gemwire logits --prompt "<|turn>user\nHi<turn|>" --device cpu -o cpu.safetensors`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return l.run(cmd.Context(), list) },
	}
	cmd.Flags().StringVar(&l.ids, "ids", "", "the tokens, as `IDS` separated by commas")
	cmd.Flags().StringVar(&l.prompt, "prompt", "", "the tokens, as `TEXT` with control tokens")
	cmd.Flags().StringVarP(&l.output, "output", "o", "", "write to this `FILE`, or to standard output for -")
	cmd.Flags().BoolVar(&l.json, "json", false, "print what was written as JSON")
	l.force.Register(cmd.Flags())
	l.lora.Register(cmd.Flags())
	l.model.Register(cmd.Flags())
	return cmd
}

func (l *logitsCommand) run(ctx context.Context, list []string) error {
	name, err := l.model.OneModel(list)
	if err != nil {
		return err
	}
	ids, err := l.check()
	if err != nil {
		return err
	}
	if err := l.force.Check(l.output); err != nil {
		return err
	}
	model, err := l.model.Open(ctx, l.env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	if err := l.lora.Use(ctx, model); err != nil {
		return err
	}
	if l.prompt != "" {
		ids = trustedTokens(model.Tokenizer(), l.prompt)
	}
	if len(ids) > model.Info().MaxContext {
		return fmt.Errorf(
			"%d tokens are more than this model can hold; give at most %d", len(ids), model.Info().MaxContext)
	}
	session, err := model.NewSession(len(ids))
	if err != nil {
		return cli.Advised(err)
	}
	defer session.Close()
	if err := l.write(ctx, session, ids); err != nil {
		return cli.Advised(err)
	}
	return l.report(model, len(ids))
}

// check reads the flags before anything is opened.
func (l *logitsCommand) check() ([]int32, error) {
	switch {
	case l.output == "":
		return nil, cli.Usagef("no file to write to; give one with -o FILE")
	case l.json && l.output == cli.StandardOutput:
		return nil, cli.Usagef("-o - and --json both print to standard output; write to a file")
	case l.lora.Check() != nil:
		return nil, l.lora.Check()
	case (l.ids == "") == (l.prompt == ""):
		return nil, cli.Usagef("give the tokens either with --ids or with --prompt")
	case l.ids == "":
		return nil, nil
	}
	var ids []int32
	for _, word := range strings.Split(l.ids, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
		if err != nil {
			return nil, cli.Usagef("--ids: %q is not a token id; use numbers separated by commas", word)
		}
		ids = append(ids, int32(id))
	}
	return ids, nil
}

// trustedTokens encodes a text in which control tokens count, as a prompt: with
// the token in front that begins a text, if the model wants one.
func trustedTokens(tok *tokenizer.Tokenizer, text string) []int32 {
	ids := tok.EncodeSpecial(text)
	if tok.AddBOS() && (len(ids) == 0 || ids[0] != tok.BOS()) {
		ids = append([]int{tok.BOS()}, ids...)
	}
	tokens := make([]int32, len(ids))
	for i, id := range ids {
		tokens[i] = int32(id)
	}
	return tokens
}

// write streams the rows to the file as they are computed.
func (l *logitsCommand) write(ctx context.Context, session *gemma4.Session, ids []int32) error {
	progress := terminal.NewProgress(l.env.Err, false)
	defer progress.Clear()
	var computing error
	fill := func(write func([]float32) error) error {
		computing = session.Logits(ctx, gemma4.Tokens(ids), func(i int, row []float32) error {
			progress.Set("computing tokens", int64(i), int64(len(ids)))
			return write(row)
		})
		return computing
	}
	err := l.env.WriteFile(l.output, func(w io.Writer) error {
		shape := []int{len(ids), session.Model().Info().Vocab}
		return safetensors.Write(w, nil, []safetensors.Values{{Name: "logits", Shape: shape, Fill: fill}})
	})
	return cmp.Or(computing, err) // what the file says of it is beside the point
}

func (l *logitsCommand) report(model *gemma4.Model, tokens int) error {
	info := model.Info()
	if l.json {
		return l.env.PrintJSON(map[string]any{
			"file": l.output, "tokens": tokens, "vocab": info.Vocab, "device": info.Device,
			"device_name": info.DeviceName,
		})
	}
	l.env.Say("%s: logits [%d, %d], computed on %s", l.output, tokens, info.Vocab, info.DeviceName)
	return nil
}
