package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

func newTokenize(env *environment) *cobra.Command {
	var model modelFlags
	var special, asJSON, table bool
	cmd := &cobra.Command{
		Use:   "tokenize [MODEL] [TEXT]",
		Short: "Turn text into token ids",
		Long: `Turn text into a model's token ids, on one line with commas between. The text may
also come on standard input, every byte of which counts, the last line's end too.

Control tokens such as <|turn> in the text are plain text, as in what a user
types; --special finds them. Nothing is put in front: no <bos>.`,
		Example: examples(
			`gemwire tokenize "Hello world"`,
			`gemwire tokenize gemma4:e2b "Hello world"`,
			`gemwire render chat.json | gemwire tokenize gemma4:e2b --special -`,
			`gemwire tokenize --table "naïve 😀"`,
			`gemwire logits gemma4:e2b --ids "$(gemwire tokenize gemma4:e2b --special '<bos>Hi')" -o hi.safetensors`,
		),
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error {
			name, text, err := env.modelAndText(model.model, list, "text")
			if err != nil {
				return err
			}
			tok, err := model.openTokenizer(cmd.Context(), env, name)
			if err != nil {
				return err
			}
			ids := tok.Encode(text)
			if special {
				ids = tok.EncodeSpecial(text)
			}
			switch {
			case asJSON:
				return env.printJSON(tokensJSON{ids, pieces(tok, ids)})
			case table:
				return printPieces(env, tok, ids)
			}
			_, err = fmt.Fprintln(env.out, joinIDs(ids))
			return err
		},
	}
	cmd.Flags().BoolVar(&special, "special", false, "control tokens in the text count")
	cmd.Flags().BoolVar(&table, "table", false, "print a line for each token: its id and its text in the vocabulary")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the ids and pieces as JSON")
	model.registerReference(cmd.Flags())
	return cmd
}

type tokensJSON struct {
	IDs    []int    `json:"ids"`
	Pieces []string `json:"pieces"`
}

// openTokenizer reads a model's tokenizer, and nothing else of it.
func (f *modelFlags) openTokenizer(ctx context.Context, env *environment, name string) (*tokenizer.Tokenizer, error) {
	file, err := f.openFile(ctx, env, name)
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

func printPieces(env *environment, tok *tokenizer.Tokenizer, ids []int) error {
	w := tabwriter.NewWriter(env.out, 0, 0, 2, ' ', tabwriter.AlignRight)
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
