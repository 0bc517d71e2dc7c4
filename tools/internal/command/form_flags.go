package command

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

// formFlags say what an answer must look like.
type formFlags struct {
	schema, grammar string // a file; a schema may stand there itself
	regex           string
	choices         []string
	json            bool
	spaced          bool
	anyOrder        bool
}

func (f *formFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.schema, "schema", "", "answer in JSON that fits this schema: a `FILE`, or the schema itself")
	flags.BoolVar(&f.json, "json-only", false, "answer in JSON, whatever it holds")
	flags.StringVar(&f.regex, "regex", "", "answer with a text that matches this `PATTERN` as a whole (RE2 syntax)")
	flags.StringArrayVar(&f.choices, "choice", nil,
		"answer with this `TEXT`, or with that of another --choice (repeatable)")
	flags.StringVar(&f.grammar, "grammar", "",
		"answer as the grammar in this `FILE` says, in llama.cpp's notation (GBNF)")
	flags.BoolVar(&f.spaced, "spaced", false, "let the model put spaces and line breaks into its JSON")
	flags.BoolVar(&f.anyOrder, "any-order", false, "let properties come in any order instead of the schema's")
}

// form is what the flags say, nil for nothing. It is checked before a model is opened.
func (f *formFlags) form() (*gemma4.Form, error) {
	form, given := gemma4.Form{JSON: f.json, Spaced: f.spaced, AnyOrder: f.anyOrder}, []string{}
	for _, flag := range []struct {
		name  string
		given bool
		take  func() error
	}{
		{"--schema", f.schema != "", func() (err error) { form.Schema, err = schemaText(f.schema); return err }},
		{"--json-only", f.json, func() error { return nil }},
		{"--regex", f.regex != "", func() error { form.Regex = f.regex; return nil }},
		{"--choice", f.choices != nil, func() error { form.Choices = f.choices; return nil }},
		{"--grammar", f.grammar != "", func() (err error) { form.Grammar, err = fileText(f.grammar); return err }},
	} {
		if !flag.given {
			continue
		}
		if given = append(given, flag.name); len(given) > 1 {
			return nil, cli.Usagef("%s and %s both say what the answer must look like; leave one out", given[0], given[1])
		}
		if err := flag.take(); err != nil {
			return nil, err
		}
	}
	if len(given) == 0 {
		if f.spaced || f.anyOrder {
			return nil, cli.Usagef("--spaced and --any-order change what --schema or --json-only ask for; give one of these")
		}
		return nil, nil
	}
	if err := form.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", given[0], err)
	}
	return &form, nil
}

// schemaText is the schema itself, or what a file holds.
func schemaText(given string) (string, error) {
	if text := strings.TrimSpace(given); strings.HasPrefix(text, "{") || text == "true" || text == "false" {
		return text, nil
	}
	return fileText(given)
}

// maxFormFile bounds what is read of a schema or a grammar.
const maxFormFile = 16 << 20

func fileText(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if info.Size() > maxFormFile {
		return "", fmt.Errorf("%s has %d bytes, too many for a schema or a grammar; the most is %d", name, info.Size(),
			maxFormFile)
	}
	raw, err := os.ReadFile(name)
	return string(raw), err
}
