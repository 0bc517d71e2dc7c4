package tokenizer_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
	"github.com/google/go-cmp/cmp"
)

func openNano(tb testing.TB) gguf.Metadata {
	tb.Helper()
	f, err := gguf.OpenPath(context.Background(), "../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f.Meta
}

func TestNanoFileIsNanoVocabulary(t *testing.T) {
	v, err := tokenizer.VocabularyFromGGUF(openNano(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Scores) != len(v.Tokens) || !v.AddBOS || v.AddSpacePrefix {
		t.Errorf("%d scores, BOS %v, prefix %v", len(v.Scores), v.AddBOS, v.AddSpacePrefix)
	}
	// The other form names one eos and knows no scores.
	if diff := cmp.Diff([]int{1, 1, 6, 14}, v.EOS); diff != "" {
		t.Errorf("eos (-want +got):\n%s", diff)
	}
	want := readHubVocabulary(t, conformance+"/nano/tokenizer.json")
	v.Scores, v.AddBOS, v.EOS = nil, false, want.EOS
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("-tokenizer.json +nano.gguf:\n%s", diff)
	}
}

func TestFromGGUF(t *testing.T) {
	tok, err := tokenizer.FromGGUF(openNano(t))
	if err != nil {
		t.Fatal(err)
	}
	checkTextCases(t, tok, readTextCases(t).Nano)
	if diff := cmp.Diff([]int{1, 6, 14}, tok.EOG()); diff != "" {
		t.Errorf("ends of generation (-want +got):\n%s", diff)
	}
	if !tok.AddBOS() {
		t.Error("no BOS wanted")
	}
}

// writeMetadata makes a file of the keys and opens it.
func writeMetadata(t *testing.T, keys map[string]any) gguf.Metadata {
	t.Helper()
	var file bytes.Buffer
	w := gguf.NewWriter(&file)
	if err := w.Set("general.architecture", "gemma4"); err != nil {
		t.Fatal(err)
	}
	for key, value := range keys {
		if err := w.Set("tokenizer.ggml."+key, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(context.Background(), gguf.Memory(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return f.Meta
}

// A tokenizer made in steps is the same, and others get their turns.
func TestFromGGUFInSteps(t *testing.T) {
	meta := openNano(t)
	whole, err := tokenizer.FromGGUF(meta)
	if err != nil {
		t.Fatal(err)
	}
	turns := 0
	stepped, err := tokenizer.FromGGUFInSteps(meta, func() { turns++ })
	if err != nil {
		t.Fatal(err)
	}
	const text = "Gib der Reihe nach acht Städte an: a, b."
	if diff := cmp.Diff(whole.Encode(text), stepped.Encode(text)); diff != "" {
		t.Errorf("-whole +stepped:\n%s", diff)
	}
	if turns < 3 {
		t.Errorf("others had %d turns", turns)
	}
}

func TestFromGGUFErrors(t *testing.T) {
	tokens := []string{"a", "aa", "<unk>"}
	for name, c := range map[string]struct {
		keys map[string]any
		want error
	}{
		"no model":   {map[string]any{"tokens": tokens}, gguf.ErrMissingKey},
		"no tokens":  {map[string]any{"model": "gemma4"}, gguf.ErrMissingKey},
		"wrong type": {map[string]any{"model": "gemma4", "tokens": tokens, "merges": uint32(1)}, gguf.ErrWrongType},
		"id too wide": {map[string]any{"model": "gemma4", "tokens": tokens, "bos_token_id": uint64(1) << 40},
			gguf.ErrWrongType},
		"other model": {map[string]any{"model": "gpt2", "tokens": tokens}, tokenizer.ErrModel},
		"no merges":   {map[string]any{"model": "gemma4", "tokens": tokens}, tokenizer.ErrVocabulary},
		"nonsense id": {map[string]any{"model": "gemma4", "tokens": tokens, "merges": []string{"a a"},
			"eot_token_id": uint32(3)}, tokenizer.ErrVocabulary},
	} {
		if _, err := tokenizer.FromGGUF(writeMetadata(t, c.keys)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v (want %v)", name, err, c.want)
		}
	}
}
