package parity

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// EmbeddingTolerance is how far an embedding may be from the reference's, as relative L2 error: it
// is computed in float32 throughout.
const EmbeddingTolerance = 1e-5

// shortEmbedding is how many numbers the reference's short embeddings keep.
const shortEmbedding = 32

// embeddingText is a text with its ids.
type embeddingText struct {
	Text string  `json:"text"`
	IDs  []int32 `json:"ids"`
}

func readTexts(file string) ([]embeddingText, error) {
	var content struct {
		Texts []embeddingText `json:"texts"`
	}
	err := readJSON(file, &content)
	return content.Texts, err
}

func isEmbeddingCase(file string) bool {
	texts, err := readTexts(file)
	return err == nil && len(texts) > 0
}

// embeddings compares the vectors of an encoder's texts, all in one batch.
func (r *run) embeddings() error {
	list, err := readTexts(r.c.JSON)
	if err != nil {
		return err
	}
	file, err := r.c.OpenFile(r.ctx, nil)
	if err != nil {
		return err
	}
	m, err := embedding.OpenGGUF(r.ctx, file, embedding.Options{})
	if err != nil {
		return err
	}
	defer m.Close()
	stored, reference, err := openReference(r.c.Reference)
	if err != nil {
		return err
	}
	defer stored.Close()
	var texts []string
	for i, text := range list {
		texts = append(texts, text.Text)
		wrong, detail := 0.0, ""
		if got := m.Text(text.Text).Tokens; !slices.Equal(got, text.IDs) {
			wrong, detail = 1, fmt.Sprintf("%v, want %v", got, text.IDs)
		}
		if err := r.check(fmt.Sprintf("text %d: ids", i), wrong, 0, detail); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		name       string
		dimensions int
	}{{"embedding", 0}, {"embedding32", min(shortEmbedding, m.Dimensions())}} {
		vectors, err := m.Texts(r.ctx, texts, embedding.EmbedOptions{Dimensions: of.dimensions})
		if err != nil {
			return err
		}
		if err := r.vectors(vectors, of.name, reference); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) vectors(vectors [][]float32, name string, reference *safetensors.File) error {
	for i, v := range vectors {
		want, err := reference.Floats(fmt.Sprintf("%d.%s", i, name))
		if err != nil {
			return err
		}
		if err := r.check(fmt.Sprintf("text %d: %s", i, name), RelativeError(v, want), EmbeddingTolerance, ""); err != nil {
			return err
		}
	}
	return nil
}
