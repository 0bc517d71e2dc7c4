package flagset

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

// Form say what an answer must look like.
type Form struct {
	flags           *pflag.FlagSet
	schema, grammar string // a file; a schema may stand there itself
	regex           string
	choices         []string
	json            bool
	spaced          bool
	compact         bool
	anyOrder        bool
}

func (f *Form) Register(flags *pflag.FlagSet) {
	f.flags = flags
	OnceVar(flags, &f.schema, "schema", "answer in JSON that fits this schema: a `FILE`, or the schema itself")
	flags.BoolVar(&f.json, "json-only", false, "answer in JSON, whatever it holds")
	OnceVar(flags, &f.regex, "regex", "answer with a text that matches this `PATTERN` as a whole (RE2 syntax)")
	flags.StringArrayVar(&f.choices, "choice", nil,
		"answer with this `TEXT`, or with that of another --choice (repeatable)")
	OnceVar(flags, &f.grammar, "grammar",
		"answer as the grammar in this `FILE` says, in llama.cpp's notation (GBNF)")
	flags.BoolVar(&f.spaced, "spaced", false, "let the model put spaces and line breaks into its JSON as it likes")
	flags.BoolVar(&f.compact, "compact", false, "write JSON without spaces and line breaks")
	flags.BoolVar(&f.anyOrder, "any-order", false, "let properties come in any order instead of the schema's")
}

// Form is what the flags say, nil for nothing. It is checked before a model is opened.
func (f *Form) Form(ctx context.Context) (*gemma4.Form, error) {
	form, given := gemma4.Form{JSON: f.json, Spaced: f.spaced, Compact: f.compact, AnyOrder: f.anyOrder}, []string{}
	for _, flag := range []struct {
		name  string
		given bool
		take  func() error
	}{
		{"--schema", f.schema != "", func() (err error) { form.Schema, err = schemaText(ctx, f.schema); return err }},
		{"--json-only", f.json, func() error { return nil }},
		{"--regex", f.regex != "", func() error { form.Regex = f.regex; return nil }},
		{"--choice", f.choices != nil, func() (err error) { form.Choices, err = f.texts(); return err }},
		{"--grammar", f.grammar != "", func() (err error) {
			form.Grammar, err = ReadText(ctx, "--grammar", f.grammar, "a grammar")
			return err
		}},
	} {
		if !flag.given {
			if f.flags.Changed(flag.name[2:]) && flag.name != "--json-only" {
				return nil, cli.Usagef("%s has nothing in it; leave it out for an answer that is held to nothing", flag.name)
			}
			continue
		}
		if given = append(given, flag.name); len(given) > 1 {
			return nil, cli.Usagef("%s and %s both say what the answer must look like; leave one out",
				given[0], given[1])
		}
		if err := flag.take(); err != nil {
			return nil, err
		}
	}
	if f.spaced && f.compact {
		return nil, cli.Usagef("--spaced and --compact contradict each other; leave one out")
	}
	if len(given) == 0 {
		if f.spaced || f.compact || f.anyOrder {
			return nil, cli.Usagef(
				"--spaced, --compact and --any-order change the JSON of --schema and --json-only; give one of these")
		}
		return nil, nil
	}
	if err := form.Check(ctx); err != nil {
		name, schemaFile := given[0], f.schema != "" && !isSchema(f.schema)
		if schemaFile {
			name += " " + f.schema
		}
		err = fmt.Errorf("%s: %w", name, err)
		if isFile := schemaFile || f.grammar != ""; !isFile && ctx.Err() == nil {
			err = cli.Usage(err)
		}
		return nil, err
	}
	return &form, nil
}

// texts are the choices. Nobody asks for an answer that is always empty.
func (f *Form) texts() ([]string, error) {
	if len(f.choices) == 1 && f.choices[0] == "" {
		return nil, cli.Usagef("--choice: give a text, and another with another --choice")
	}
	return f.choices, nil
}

// schemaText is the schema itself, or what a file holds.
func schemaText(ctx context.Context, given string) (string, error) {
	text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(given), byteOrderMark))
	if isSchema(text) {
		return text, nil
	}
	file, err := ReadText(ctx, "--schema", given, "a schema")
	if _, missing := os.Stat(given); err != nil && missing != nil && isJSON(text) {
		return "", cli.Usagef("--schema: a schema is an object, true or false, or the name of a file with one; %.40s is "+
			"none of these", text)
	}
	return file, err
}

func isSchema(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") || text == "true" || text == "false"
}

// isJSON says whether a text is JSON, or begins as no file's name does.
func isJSON(text string) bool {
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`) || json.Valid([]byte(text))
}
