package parity

import (
	"fmt"
	"os"
	"slices"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/embedding"
	textparity "github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/multimodal"
)

// embeddings compares the vectors of an encoder's images and clips.
func (r *run) embeddings() error {
	media, err := readMedia(r.c)
	if err != nil || len(media) == 0 {
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
	e, err := multimodal.ForEmbeddings(m, multimodal.Options{})
	if err != nil {
		return err
	}
	defer e.Close()
	stored, err := os.Open(r.c.Reference)
	if err != nil {
		return err
	}
	defer stored.Close()
	reference, err := readReference(stored)
	if err != nil {
		return err
	}
	for i := range media {
		if err := r.embedded(m, e, &media[i], reference); err != nil {
			return fmt.Errorf("%s: %w", media[i].File, err)
		}
	}
	return nil
}

func (r *run) embedded(m *embedding.Model, e *multimodal.Embedder, medium *medium, reference *safetensors.File) error {
	part := chat.Part{Type: medium.kind, Data: medium.data, Budget: medium.Budget}
	in, err := e.Input(r.ctx, part)
	if err != nil {
		return err
	}
	wrong, detail := 0.0, ""
	if !slices.Equal(in.Tokens, medium.IDs) {
		wrong, detail = 1, fmt.Sprintf("%v, want %v", in.Tokens, medium.IDs)
	}
	if err := r.check(medium.File+": ids", wrong, 0, detail); err != nil {
		return err
	}
	vectors, err := m.Embed(r.ctx, []embedding.Input{in}, embedding.EmbedOptions{})
	if err != nil {
		return err
	}
	want, err := reference.Floats(medium.stem() + ".embedding")
	if err != nil {
		return err
	}
	return r.check(medium.File+": embedding", textparity.RelativeError(vectors[0], want), toleranceSoftCPU, "")
}
