package parity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gguf"
)

// ErrNoCase says that there is nothing to run where a case was expected.
var ErrNoCase = errors.New("no conformance case")

// Kind is what sort of case it is.
type Kind string

// The kinds.
const (
	ModelCase     Kind = "model"
	ChatCase      Kind = "chat"
	TokenizerCase Kind = "tokenizer"
	EmbeddingCase Kind = "embedding" // computed on the CPU alone
	// TextCase is a text with the reference's perplexity and largest logits, and the
	// beginnings of others. Its model may lie elsewhere: see Options.Model.
	TextCase Kind = "text"
)

// Case is one conformance case on disk.
type Case struct {
	Name string
	Kind Kind
	JSON string // path
	GGUF string // path of the model, empty for chat; for a model case, where the built-in one is meant, too
	// Projector is the path of the mmproj file, empty where the model has none beside it.
	Projector string
	// Reference is the path of the safetensors file, empty where there is none.
	Reference string
}

// Check is one comparison.
type Check struct {
	Case      string  `json:"case"`
	What      string  `json:"what"`
	Error     float64 `json:"error"`
	Tolerance float64 `json:"tolerance"`
	Passed    bool    `json:"passed"`
	Detail    string  `json:"detail,omitempty"`
}

// Find lists the cases at path: a folder (and the folders in it), a case's
// JSON or GGUF file, or either without its ending. Of a folder, text cases are left out:
// they are named one by one, with a model.
func Find(path string) ([]Case, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		path, info, err = withEnding(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCase, err)
	}
	if !info.IsDir() {
		c, ok := caseOf(strings.TrimSuffix(path, filepath.Ext(path)) + ".json")
		if !ok {
			return nil, fmt.Errorf("%w: %s has no JSON file with prompts next to it", ErrNoCase, path)
		}
		return []Case{c}, nil
	}
	var cases []Case
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".json" {
			return err
		}
		if c, ok := caseOf(file); ok && c.Kind != TextCase { // whose model is not here
			cases = append(cases, c)
		}
		return nil
	})
	if err == nil && len(cases) == 0 {
		err = fmt.Errorf("%w: %s holds no NAME.json with a NAME.gguf, no chat.json, tokenizer.json or cases.json",
			ErrNoCase, path)
	}
	return cases, err
}

func withEnding(path string) (string, fs.FileInfo, error) {
	info, err := os.Stat(path + ".json")
	return path + ".json", info, err
}

// caseOf says what a JSON file is the case of.
func caseOf(file string) (Case, bool) {
	base := strings.TrimSuffix(file, ".json")
	c := Case{Name: filepath.Base(base), JSON: file}
	switch c.Name {
	case "chat":
		c.Kind = ChatCase
		return c, true
	case "tokenizer":
		c.Kind = TokenizerCase
		// Hugging Face's own tokenizer.json has the same name and other content.
		return c, isTokenizerCase(file)
	case "cases":
		c.Kind, c.Name = ModelCase, filepath.Base(filepath.Dir(file))
		c.GGUF = existing(filepath.Join(filepath.Dir(file), c.Name+".gguf"))
		return c, true
	}
	c.Kind, c.GGUF, c.Reference = ModelCase, existing(base+".gguf"), existing(base+".safetensors")
	if c.GGUF == "" {
		c.GGUF, c.Projector = existing(base+"-text.gguf"), existing(base+"-mmproj.gguf")
	}
	if c.GGUF != "" && isEmbeddingCase(file) {
		c.Kind, c.Projector = EmbeddingCase, existing(base+"-mmproj.gguf")
	}
	if c.GGUF == "" && c.Reference != "" && isTextCase(file) {
		c.Kind = TextCase
		return c, true
	}
	return c, c.GGUF != ""
}

// OpenFile opens the case's model: one file, a text model with the projector beside it,
// or the built-in one, where builtIn is not nil.
func (c Case) OpenFile(ctx context.Context, builtIn func() gguf.Source) (*gguf.File, error) {
	switch {
	case c.GGUF == "" && builtIn == nil:
		return nil, fmt.Errorf("%w: its GGUF file is not next to %s", ErrNoCase, c.JSON)
	case c.GGUF == "":
		return gguf.Open(ctx, builtIn())
	case c.Projector != "":
		return gguf.OpenPath(ctx, c.GGUF, gguf.WithProjector(c.Projector))
	}
	return gguf.OpenPath(ctx, c.GGUF)
}

func isTextCase(file string) bool {
	var content struct {
		Perplexity float64 `json:"perplexity"`
	}
	return readJSON(file, &content) == nil && content.Perplexity > 0
}

func existing(path string) string {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// prompt is one prompt of a model case.
type prompt struct {
	Text    string    `json:"text"`
	Prompt  string    `json:"prompt"` // the same, in cases.json
	IDs     []int32   `json:"ids"`
	Greedy  []int32   `json:"greedy"`
	Margins []float64 `json:"margins"`
	Answer  string    `json:"answer"`
}

func (p prompt) text() string { return p.Text + p.Prompt }

// readPrompts reads the text prompts of a model case, in either form.
func readPrompts(file string) ([]prompt, error) {
	var content struct {
		Prompts []prompt `json:"prompts"`
		Text    []prompt `json:"text"`
	}
	if err := readJSON(file, &content); err != nil {
		return nil, err
	}
	prompts := slices.Concat(content.Prompts, content.Text)
	if len(prompts) == 0 {
		return nil, fmt.Errorf("%w: %s has no prompts", ErrNoCase, file)
	}
	for i, p := range prompts {
		if len(p.IDs) == 0 || len(p.Margins) < len(p.Greedy) {
			return nil, fmt.Errorf("%w: prompt %d of %s lacks ids or margins", ErrNoCase, i, file)
		}
	}
	return prompts, nil
}

func readJSON(file string, into any) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
