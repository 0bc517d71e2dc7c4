package texts

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

func NewDetokenize(env *cli.Environment) *cobra.Command {
	var model cli.ModelFlags
	var skip, asJSON bool
	cmd := &cobra.Command{
		Use:   "detokenize [MODEL] [IDS]",
		Short: "Turn token ids into text",
		Long: `Turn a model's token ids into text. The ids, separated by commas or
spaces, can also come on standard input.`,
		Example: cli.Examples(
			`gemwire detokenize 577 396 389 356 348`,
			`gemwire detokenize gemma4:e2b 2,105,2364,107`,
			`gemwire tokenize gemma4:e2b "Hello" | gemwire detokenize gemma4:e2b -`,
		),
		Args: cli.Args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error {
			arguments := flagset.TextArguments{Env: env, Model: model.Model, What: "list of ids"}
			name, text, err := arguments.Needed(cmd.Context(), asOneList(list))
			if err != nil {
				return err
			}
			ids, err := parseIDs(text)
			if err != nil {
				return err
			}
			tok, err := openTokenizer(cmd.Context(), env, &model, name)
			if err != nil {
				return err
			}
			decoded, err := tok.Decode(ids, tokenizer.DecodeOptions{SkipControl: skip})
			if err != nil {
				return err
			}
			if asJSON {
				return env.PrintJSON(struct {
					Text string `json:"text"`
				}{decoded})
			}
			if terminal.IsTerminal(env.Out) {
				decoded = flagset.Harmless(decoded) + "\n"
			}
			_, err = fmt.Fprint(env.Out, decoded)
			return err
		},
	}
	cmd.Flags().BoolVar(&skip, "skip-special", false, "leave out control tokens")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the text as JSON")
	model.RegisterReference(cmd.Flags())
	return cmd
}

// asOneList makes one argument of ids that were given apart.
func asOneList(list []string) []string {
	for i := range list {
		if _, err := parseIDs(list[i]); err == nil {
			return append(list[:i:i], strings.Join(list[i:], " "))
		}
	}
	return list
}

// parseIDs reads ids with commas or white space between.
func parseIDs(text string) ([]int, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n[]", r) })
	ids := make([]int, len(words))
	for i, word := range words {
		id, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return nil, cli.Usagef("%q is not a token id; use numbers separated by commas, such as 2,105,9259", word)
		}
		ids[i] = int(id)
	}
	return ids, nil
}
