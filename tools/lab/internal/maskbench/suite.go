package maskbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4/grammar"
)

// Group is what became of one file of the JSON Schema Test Suite, which has the cases of one keyword.
type Group struct {
	Name    string   `json:"name"` // of the file, without its ending
	Schemas int      `json:"schemas"`
	Refused int      `json:"refused"` // at compiling
	Tests   int      `json:"tests"`   // instances of schemas that were not refused
	Wrong   []string `json:"wrong"`   // what of them was not judged as the suite does
	Reasons []string `json:"reasons"` // of refusals
}

type suiteCase struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Tests       []struct {
		Description string          `json:"description"`
		Data        json.RawMessage `json:"data"`
		Valid       bool            `json:"valid"`
	} `json:"tests"`
}

// Suite tries every case in the files of a folder of the JSON Schema Test Suite
// (github.com/json-schema-org/JSON-Schema-Test-Suite, such as tests/draft2020-12), those below it among them. A case
// is passed where its schema is refused at compiling, or every instance is judged as the suite does. draft, where it is
// not "", stands for the $schema of schemas that have none.
func Suite(ctx context.Context, folder, draft string) ([]Group, error) {
	var names []string
	for _, pattern := range []string{"*.json", "optional/*.json", "optional/format/*.json"} {
		found, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: %s has no files of the JSON Schema Test Suite", ErrData, folder)
	}
	v, err := grammar.NewVocabulary(Bytes())
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	groups := make([]Group, 0, len(names))
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g, err := suiteFile(ctx, v, folder, name, draft)
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// notClaimed are groups of cases that the grammar does not honour, by choice: those that take formats for remarks, that
// have metaschemas of their own, and that look into the text of strings.
var notClaimed = []string{"format", "vocabulary", "optional/content"}

// leapSecond is in the names of cases of times that have a second 60. The grammar has no such times: many who read
// times refuse them.
const leapSecond = "leap second"

func suiteFile(ctx context.Context, v *grammar.Vocabulary, folder, name, draft string) (Group, error) {
	short, err := filepath.Rel(folder, name)
	if err != nil {
		return Group{}, err
	}
	g := Group{Name: filepath.ToSlash(strings.TrimSuffix(short, ".json"))}
	raw, err := os.ReadFile(name)
	if err != nil {
		return g, err
	}
	var cases []suiteCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		return g, fmt.Errorf("%w: %s: %w", ErrData, name, err)
	}
	for _, c := range cases {
		if slices.Contains(notClaimed, g.Name) {
			continue
		}
		g.Schemas++
		if err := g.try(ctx, v, c, draft); err != nil {
			return g, fmt.Errorf("%s: %s: %w", name, c.Description, err)
		}
	}
	return g, nil
}

// named gives a schema the $schema of a draft where it names none.
func named(schema json.RawMessage, draft string) string {
	text := strings.TrimSpace(string(schema))
	if draft == "" || !strings.HasPrefix(text, "{") || strings.Contains(text, `"$schema"`) {
		return text
	}
	head, rest := `{"$schema": "`+draft+`"`, strings.TrimSpace(text[1:])
	if rest != "}" {
		head += ", "
	}
	return head + rest
}

func (g *Group) try(ctx context.Context, v *grammar.Vocabulary, c suiteCase, draft string) error {
	constraint, err := grammar.Compile(ctx, v, grammar.Form{Schema: named(c.Schema, draft), AnyOrder: true})
	if err != nil && !errors.Is(err, grammar.ErrUnsatisfiable) {
		g.Refused++
		g.Reasons = append(g.Reasons, fmt.Sprintf("%s: %v", c.Description, err))
		return nil
	}
	for _, t := range c.Tests {
		if t.Valid && strings.Contains(t.Description, leapSecond) {
			continue
		}
		g.Tests++
		text, err := plain(t.Data)
		if err != nil {
			return err
		}
		ok := false // of a schema that nothing fits
		if constraint != nil {
			if ok, err = constraint.New().Fits(text); err != nil {
				return err
			}
		}
		if ok != t.Valid {
			g.Wrong = append(g.Wrong, fmt.Sprintf("%s, %s: accepted %v", c.Description, t.Description, ok))
		}
	}
	return nil
}

// plain writes a JSON value as spaced does, and numbers that are integers without a point or an exponent: 1.0 is 1 to
// JSON Schema, and the grammar has but one spelling of it.
func plain(raw json.RawMessage) ([]byte, error) {
	text, err := spaced(raw)
	if err != nil {
		return nil, err
	}
	return token.ReplaceAllFunc(text, func(t []byte) []byte {
		if t[0] == '"' {
			return t
		}
		return []byte(integral(string(t)))
	}), nil
}

// token is a string or a number of JSON.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*`)

// integral is the usual spelling of a number that is an integer, and another as it is.
func integral(number string) string {
	if r, ok := new(big.Rat).SetString(number); ok && r.IsInt() {
		return r.Num().String()
	}
	return number
}

// WriteSuite prints a table of groups, and what was wrong and why schemas were refused where all is wanted.
func WriteSuite(w io.Writer, groups []Group, all bool) error {
	var b strings.Builder
	total := Group{Name: "all"}
	fmt.Fprintf(&b, "%-40s %8s %8s %8s %8s\n", "group", "schemas", "refused", "tests", "wrong")
	line := func(g Group) {
		fmt.Fprintf(&b, "%-40s %8d %8d %8d %8d\n", g.Name, g.Schemas, g.Refused, g.Tests, len(g.Wrong))
	}
	for _, g := range groups {
		line(g)
		if all {
			for _, text := range g.Wrong {
				fmt.Fprintf(&b, "    wrong: %s\n", text)
			}
			for _, text := range g.Reasons {
				fmt.Fprintf(&b, "    refused: %s\n", text)
			}
		}
		total.Schemas, total.Refused, total.Tests = total.Schemas+g.Schemas, total.Refused+g.Refused, total.Tests+g.Tests
		total.Wrong = append(total.Wrong, g.Wrong...)
	}
	line(total)
	_, err := io.WriteString(w, b.String())
	return err
}
