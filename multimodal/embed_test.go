package multimodal_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal"
)

// embedder opens the embedding model of the conformance cases with its projector.
func embedder(t *testing.T) (*embedding.Model, *multimodal.Embedder) {
	t.Helper()
	ctx := context.Background()
	file, err := gguf.OpenPath(ctx, conformance.Path(t, "embedding.gguf"),
		gguf.WithProjector(conformance.Path(t, "embedding-mmproj.gguf")))
	if err != nil {
		t.Fatal(err)
	}
	m, err := embedding.OpenGGUF(ctx, file, embedding.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	e, err := multimodal.ForEmbeddings(m, multimodal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return m, e
}

func TestMediaThatCannotBeEmbedded(t *testing.T) {
	m, e := embedder(t)
	if !e.Images() || !e.Audio() {
		t.Errorf("sees: %v, hears: %v; the projector has both towers", e.Images(), e.Audio())
	}
	_, err := multimodal.ForEmbeddings(m, multimodal.Options{Device: gemma4.DeviceGPU})
	if !errors.Is(err, multimodal.ErrOptions) {
		t.Errorf("on the GPU: %v", err)
	}
	long := chat.Part{Type: chat.TextPart, Text: strings.Repeat("word ", m.ContextLength()+1)}
	if _, err := e.Input(context.Background(), long); !errors.Is(err, embedding.ErrTooLong) {
		t.Errorf("a long text: %v", err)
	}
}
