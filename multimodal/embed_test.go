package multimodal_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
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

func TestEmbeddingsOfMediaAreTheReference(t *testing.T) {
	const tolerance = 1e-4 // of soft tokens
	ctx := context.Background()
	m, e := embedder(t)
	raw, err := os.ReadFile(conformance.Path(t, "embedding.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Media []struct {
			File   string  `json:"file"`
			Budget int     `json:"budget"`
			IDs    []int32 `json:"ids"`
		} `json:"media"`
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(conformance.Path(t, "embedding.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	references, err := safetensors.Read(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	for _, medium := range want.Media {
		data, err := os.ReadFile(conformance.Path(t, medium.File))
		if err != nil {
			t.Fatal(err)
		}
		name, extension, _ := strings.Cut(medium.File, ".")
		kind := map[string]chat.PartType{"png": chat.Image, "wav": chat.Audio}[extension]
		in, err := e.Input(ctx, chat.Part{Type: kind, Data: data, Budget: medium.Budget})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(in.Tokens, medium.IDs) {
			t.Errorf("%s has the tokens %v, wanted %v", medium.File, in.Tokens, medium.IDs)
		}
		vectors, err := m.Embed(ctx, []embedding.Input{in}, embedding.EmbedOptions{})
		if err != nil {
			t.Fatal(err)
		}
		reference, err := references.Floats(name + ".embedding")
		if err != nil {
			t.Fatal(err)
		}
		var difference float64 // of vectors of length 1
		for i, w := range reference {
			difference += math.Pow(float64(vectors[0][i]-w), 2)
		}
		if difference = math.Sqrt(difference); !(difference <= tolerance) {
			t.Errorf("%s is %.2g off", medium.File, difference)
		}
	}
}

func TestMediaThatCannotBeEmbedded(t *testing.T) {
	m, e := embedder(t)
	if _, err := multimodal.ForEmbeddings(m, multimodal.Options{Device: gemma4.DeviceGPU}); !errors.Is(err, multimodal.ErrOptions) {
		t.Errorf("on the GPU: %v", err)
	}
	long := chat.Part{Type: chat.TextPart, Text: strings.Repeat("word ", m.ContextLength()+1)}
	if _, err := e.Input(context.Background(), long); !errors.Is(err, embedding.ErrTooLong) {
		t.Errorf("a long text: %v", err)
	}
}
