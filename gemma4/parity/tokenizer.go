package parity

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
)

// textCase is a string with its ids.
type textCase struct {
	Text    string `json:"text"`
	IDs     []int  `json:"ids"`
	Decoded string `json:"decoded"`
}

func isTokenizerCase(file string) bool {
	var lists map[string][]textCase
	return readJSON(file, &lists) == nil
}

// tokenizer runs the lists whose vocabulary is at hand: list NAME is for the
// tokenizer of NAME.gguf, beside the file or in a folder of that name, and
// `nano` for the built-in model's too.
func (r *run) tokenizer() error {
	var lists map[string][]textCase
	if err := readJSON(r.c.JSON, &lists); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		tok, err := r.vocabulary(name)
		if err != nil {
			return err
		}
		if tok == nil {
			continue
		}
		if err := r.texts(name, tok, lists[name]); err != nil {
			return err
		}
	}
	return nil
}

// vocabulary opens a list's tokenizer; nil where it is not here.
func (r *run) vocabulary(name string) (*tokenizer.Tokenizer, error) {
	source, err := r.vocabularySource(name)
	if source == nil || err != nil {
		return nil, err
	}
	file, err := gguf.Open(context.WithoutCancel(r.ctx), source)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return tokenizer.FromGGUF(file.Meta)
}

func (r *run) vocabularySource(name string) (gguf.Source, error) {
	dir := filepath.Dir(r.c.JSON)
	for _, path := range []string{filepath.Join(dir, name+".gguf"), filepath.Join(dir, name, name+".gguf")} {
		if existing(path) != "" {
			return gguf.OpenFile(path)
		}
	}
	if name == "nano" && r.opts.BuiltIn != nil {
		return r.opts.BuiltIn(), nil
	}
	return nil, nil
}

func (r *run) texts(name string, tok *tokenizer.Tokenizer, cases []textCase) error {
	for _, c := range cases {
		wrong, detail := 0.0, ""
		ids := tok.EncodeSpecial(c.Text)
		text, err := tok.Decode(c.IDs, tokenizer.DecodeOptions{})
		if err != nil || text != c.Decoded || !slices.Equal(ids, c.IDs) {
			wrong, detail = 1, fmt.Sprintf("got %v and %q, want %v and %q", ids, text, c.IDs, c.Decoded)
		}
		if err := r.check(fmt.Sprintf("%s: %.20q", name, c.Text), wrong, 0, detail); err != nil {
			return err
		}
	}
	return nil
}
