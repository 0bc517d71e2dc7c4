package tokenizer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gguf"
)

const keyPrefix = "tokenizer.ggml."

// FromGGUF prepares the tokenizer that a model file describes.
func FromGGUF(meta gguf.Metadata) (*Tokenizer, error) {
	return FromGGUFInSteps(meta, func() {})
}

// FromGGUFInSteps is FromGGUF, and calls between where a good part of it is done: a
// program with one thread, as in a browser, can see to other things then.
func FromGGUFInSteps(meta gguf.Metadata, between func()) (*Tokenizer, error) {
	between()
	v, err := VocabularyFromGGUF(meta)
	if err != nil {
		return nil, err
	}
	between()
	return newTokenizer(v, meta.Joined(keyPrefix+"tokens"), between)
}

// VocabularyFromGGUF reads the keys under `tokenizer.ggml`. Only the model and
// the tokens must be there; [New] judges the rest.
func VocabularyFromGGUF(meta gguf.Metadata) (Vocabulary, error) {
	r := keyReader{meta: meta}
	v := Vocabulary{
		Model:  required(&r, "model", meta.String),
		Tokens: required(&r, "tokens", meta.Strings),
		Scores: optional(&r, "scores", meta.Float32s, nil),
		Merges: optional(&r, "merges", meta.Strings, nil),
		BOS:    r.id("bos_token_id"),
		PAD:    r.id("padding_token_id"),
		UNK:    r.id("unknown_token_id"),
		EOT:    r.id("eot_token_id"),

		AddBOS:         optional(&r, "add_bos_token", meta.Bool, true),
		AddEOS:         optional(&r, "add_eos_token", meta.Bool, false),
		AddSpacePrefix: optional(&r, "add_space_prefix", meta.Bool, false),
	}
	types := optional(&r, "token_type", meta.Int32s, nil)
	v.Types = slices.Grow(v.Types, len(types))
	for _, t := range types {
		v.Types = append(v.Types, TokenType(t))
	}
	for _, key := range []string{"eos_token_id", "eos_token_ids"} {
		for _, id := range optional(&r, key, meta.Uint32s, nil) {
			v.EOS = append(v.EOS, int(id))
		}
	}
	if r.err != nil {
		return Vocabulary{}, fmt.Errorf("tokenizer: %w", r.err)
	}
	return v, nil
}

// keyReader keeps the first error.
type keyReader struct {
	meta gguf.Metadata
	err  error
}

func required[T any](r *keyReader, key string, get func(string) (T, error)) T {
	value, err := get(keyPrefix + key)
	if r.err == nil {
		r.err = err
	}
	return value
}

func optional[T any](r *keyReader, key string, get func(string) (T, error), absent T) T {
	value, err := get(keyPrefix + key)
	if err == nil {
		return value
	}
	if r.err == nil && !errors.Is(err, gguf.ErrMissingKey) {
		r.err = err
	}
	return absent
}

func (r *keyReader) id(key string) int {
	return int(optional(r, key, func(key string) (int64, error) {
		id, err := r.meta.Uint32(key)
		return int64(id), err
	}, None))
}
