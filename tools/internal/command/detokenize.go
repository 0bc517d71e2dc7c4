package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

func newDetokenize(env *environment) *cobra.Command {
	var model modelFlags
	var skip, asJSON bool
	cmd := &cobra.Command{
		Use:   "detokenize [MODEL] [IDS]",
		Short: "Turn token ids into text",
		Long: `Turn a model's token ids into the text that they stand for. The ids, with commas or
spaces between, may also come on standard input.`,
		Example: examples(
			`gemwire detokenize 577 396 389 356 348`,
			`gemwire detokenize gemma4:e2b 2,105,2364,107`,
			`gemwire tokenize gemma4:e2b "Hello" | gemwire detokenize gemma4:e2b -`,
		),
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error {
			name, text, err := env.modelAndText(model.model, asOneList(list), "list of ids")
			if err != nil {
				return err
			}
			ids, err := parseIDs(text)
			if err != nil {
				return err
			}
			tok, err := model.openTokenizer(cmd.Context(), env, name)
			if err != nil {
				return err
			}
			decoded, err := tok.Decode(ids, tokenizer.DecodeOptions{SkipControl: skip})
			if err != nil {
				return err
			}
			if asJSON {
				return env.printJSON(struct {
					Text string `json:"text"`
				}{decoded})
			}
			if terminal.IsTerminal(env.out) {
				decoded = harmless(decoded) + "\n"
			}
			_, err = fmt.Fprint(env.out, decoded)
			return err
		},
	}
	cmd.Flags().BoolVar(&skip, "skip-special", false, "leave out control tokens")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the text as JSON")
	model.registerReference(cmd.Flags())
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
			return nil, usagef("%q is no token id; say numbers with commas between, such as 2,105,9259", word)
		}
		ids[i] = int(id)
	}
	return ids, nil
}
