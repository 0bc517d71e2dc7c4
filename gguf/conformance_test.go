package gguf_test

import (
	"context"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
)

func openCase(t testing.TB, name string, opts ...gguf.Option) *gguf.File {
	t.Helper()
	f, err := gguf.OpenPath(context.Background(), conformance.Path(t, name), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Every tensor of every type that the cases hold can be decoded to its end.
func TestOpenConformanceCases(t *testing.T) {
	for _, name := range []string{"f32.gguf", "e2b.gguf", "types.gguf", "dense.gguf", "moe.gguf", "loud.gguf",
		"louddense.gguf", "nano/nano.gguf"} {
		t.Run(name, func(t *testing.T) {
			f := openCase(t, name)
			if got := f.Architecture(); got != "gemma4" {
				t.Errorf("architecture %q", got)
			}
			if n, err := f.Meta.Uint32("gemma4.block_count"); err != nil || n == 0 {
				t.Errorf("block count %d, %v", n, err)
			}
			if tokens, err := f.Meta.Strings("tokenizer.ggml.tokens"); err != nil || tokens[0] != "<pad>" {
				t.Errorf("tokens start with %.1q, %v", tokens, err)
			}
			var data int64
			for _, tensor := range f.Tensors {
				row := make([]float32, tensor.RowLen())
				if err := tensor.ReadRows(row, tensor.Rows()-1, 1); err != nil {
					t.Error(err)
				}
				data += tensor.Size
			}
			if data <= f.Size()/2 || data >= f.Size() {
				t.Errorf("tensors take %d of %d bytes", data, f.Size())
			}
		})
	}
}
