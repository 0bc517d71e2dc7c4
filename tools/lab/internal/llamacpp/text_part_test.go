package llamacpp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
)

func TestWriteTextPart(t *testing.T) {
	ctx := context.Background()
	file, err := gguf.Open(ctx, nano.Source())
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	var heard int64
	if err := WriteTextPart(ctx, &written, file, func(done, total int64) { heard = done }); err != nil {
		t.Fatal(err)
	}
	text, err := gguf.Open(ctx, gguf.Memory(written.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !HasTowers(file) || HasTowers(text) || text.Meta.Len() != file.Meta.Len() || heard == 0 {
		t.Errorf("towers before %v, after %v; %d keys of %d; %d bytes", HasTowers(file), HasTowers(text),
			text.Meta.Len(),
			file.Meta.Len(), heard)
	}
	for _, tensor := range text.Tensors {
		before, ok := file.Tensor(tensor.Name)
		if !ok || before.Type != tensor.Type || !bytes.Equal(bytesOf(t, before), bytesOf(t, tensor)) {
			t.Errorf("%s is not as it was", tensor.Name)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := WriteTextPart(cancelled, io.Discard, file, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func bytesOf(t *testing.T, tensor *gguf.Tensor) []byte {
	t.Helper()
	content, err := io.ReadAll(tensor.Section())
	if err != nil {
		t.Fatal(err)
	}
	return content
}
