package tokenizer

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestTablesHoldNoPointers looks at all that grows with the vocabulary: what holds a
// pointer there, a garbage collector follows for each token, and in a browser all else
// waits for it.
func TestTablesHoldNoPointers(t *testing.T) {
	v := Vocabulary{Model: "gemma4", BOS: None, PAD: None, UNK: None, EOT: None}
	for b := range 256 {
		v.Tokens = append(v.Tokens, fmt.Sprintf("<0x%02X>", b))
	}
	for _, c := range "abcdefgh" {
		v.Tokens = append(v.Tokens, string(c))
	}
	for _, pair := range []string{"a b", "c d", "e f", "g h"} {
		v.Tokens = append(v.Tokens, strings.ReplaceAll(pair, " ", ""))
		v.Merges = append(v.Merges, pair)
	}
	scored := v
	scored.Model, scored.Merges, scored.Scores = "llama", nil, make([]float32, len(v.Tokens))
	for name, v := range map[string]Vocabulary{"merges": v, "scores": scored} {
		tok, err := New(v)
		if err != nil {
			t.Fatal(err)
		}
		tables := 0
		walk(reflect.ValueOf(tok), name, func(path string, table reflect.Value) {
			if table.Len() < len(v.Merges) {
				return
			}
			tables++
			if hasPointers(table.Type().Elem()) {
				t.Errorf("%s: %d of %v", path, table.Len(), table.Type().Elem())
			}
		})
		if tables < 5 {
			t.Errorf("%s: only %d tables found", name, tables)
		}
	}
}

// walk visits the slices and maps that v leads to.
func walk(v reflect.Value, path string, visit func(path string, table reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), path, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Slice, reflect.Map:
		if v.Len() > 0 {
			visit(path, v)
		}
	}
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() < reflect.Bool || t.Kind() > reflect.Complex128
}

// TestJoinedTexts takes texts as they lie only where they are the same.
func TestJoinedTexts(t *testing.T) {
	tokens := []string{"", "a", "bc", "d"}
	for joined, same := range map[string]bool{"abcd": true, "": false, "abc": false, "abdc": false, "ab": false} {
		p, err := newPieces(tokens, joined)
		if err != nil {
			t.Fatal(err)
		}
		for id, text := range tokens {
			if got := p.of(int32(id)); got != text {
				t.Errorf("%q: piece %d is %q, want %q", joined, id, got, text)
			}
		}
		if p.len() != len(tokens) || (p.text == joined) != same {
			t.Errorf("%q: %d pieces in %q", joined, p.len(), p.text)
		}
	}
}
