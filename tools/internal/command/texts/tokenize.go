package texts

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

func NewTokenize(env *cli.Environment) *cobra.Command {
	var model cli.ModelFlags
	var special, asJSON, table bool
	cmd := &cobra.Command{
		Use:   "tokenize [MODEL] [TEXT]",
		Short: "Turn text into token ids",
		Long: `Turn text into a model's token ids, on one line, separated by commas. The text can
also come on standard input; every byte of it counts, including the last newline.

Control tokens such as <|turn> in the text are treated as plain text, as if a user
had typed them; --special recognizes them. Nothing is added: no <bos>.`,
		Example: cli.Examples(
			`gemwire tokenize "Hello world"`,
			`gemwire tokenize gemma4:e2b "Hello world"`,
			`gemwire render chat.json | gemwire tokenize gemma4:e2b --special -`,
			`gemwire tokenize --table "naïve 😀"`,
			`gemwire logits gemma4:e2b --ids "$(gemwire tokenize gemma4:e2b --special '<bos>Hi')" -o hi.safetensors`,
		),
		Args: cli.Args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error {
			name, text, err := flagset.TextArguments{Env: env, Model: model.Model, What: "text"}.Needed(cmd.Context(), list)
			if err != nil {
				return err
			}
			tok, err := openTokenizer(cmd.Context(), env, &model, name)
			if err != nil {
				return err
			}
			ids := tok.Encode(text)
			if special {
				ids = tok.EncodeSpecial(text)
			}
			switch {
			case asJSON:
				return env.PrintJSON(Tokens{ids, pieces(tok, ids)})
			case table:
				return printPieces(env, tok, ids)
			}
			_, err = fmt.Fprintln(env.Out, joinIDs(ids))
			return err
		},
	}
	cmd.Flags().BoolVar(&special, "special", false, "recognize control tokens in the text")
	cmd.Flags().BoolVar(&table, "table", false, "print a line for each token: its id and its text in the vocabulary")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the ids and pieces as JSON")
	model.RegisterReference(cmd.Flags())
	return cmd
}

type Tokens struct {
	IDs    []int    `json:"ids"`
	Pieces []string `json:"pieces"`
}

// openTokenizer reads a model's tokenizer, and nothing else of it.
func openTokenizer(ctx context.Context, env *cli.Environment, f *cli.ModelFlags,
	name string) (*tokenizer.Tokenizer, error) {
	file, err := f.OpenFile(ctx, env, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return tokenizer.FromGGUF(file.Meta)
}

func pieces(tok *tokenizer.Tokenizer, ids []int) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = tok.TokenText(id)
	}
	return out
}

func printPieces(env *cli.Environment, tok *tokenizer.Tokenizer, ids []int) error {
	w := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, piece := range pieces(tok, ids) {
		fmt.Fprintf(w, "%d\t  %s\n", ids[i], strconv.Quote(piece))
	}
	return w.Flush()
}

func joinIDs(ids []int) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(id)
	}
	return strings.Join(words, ",")
}
