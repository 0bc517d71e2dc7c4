package multimodal

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/embedding"
)

// Embedder makes inputs of an embedding model out of text, images, clips and videos.
// Its towers compute on the CPU and are loaded when the first medium comes.
type Embedder struct {
	model *embedding.Model
	media *Media
}

// ForEmbeddings makes an Embedder for a model, which stays the caller's. Options.Device
// may not ask for a GPU.
func ForEmbeddings(model *embedding.Model, options Options) (*Embedder, error) {
	if options.Device == gemma4.DeviceGPU {
		return nil, fmt.Errorf("%w: towers on the GPU; embeddings are computed on the CPU", ErrOptions)
	}
	options.Device = gemma4.DeviceCPU
	media, err := newMedia(model.File(), model.Config().EmbeddingLength, options)
	if err != nil {
		return nil, err
	}
	return &Embedder{model: model, media: media}, nil
}

// Images says whether the model sees.
func (e *Embedder) Images() bool { return e.media.Images() }

// Audio says whether the model hears.
func (e *Embedder) Audio() bool { return e.media.Audio() }

// Close releases the towers.
func (e *Embedder) Close() error { return e.media.Close() }

// Input is what the parts make together, in their order, with the soft tokens of their
// media computed.
func (e *Embedder) Input(ctx context.Context, parts ...chat.Part) (embedding.Input, error) {
	var prompt chat.Prompt
	for i := range parts {
		if parts[i].Type == chat.TextPart {
			prompt = append(prompt, chat.Segment{Text: parts[i].Text})
		} else {
			prompt = append(prompt, chat.Segment{Media: &parts[i]})
		}
	}
	prepared := map[*chat.Part][]gemma4.PreparedMedium{}
	encoded, err := prompt.Encode(e.model.Tokenizer(), func(part *chat.Part) ([]chat.Piece, error) {
		list, err := e.media.Prepare(ctx, part)
		prepared[part] = list
		return gemma4.PiecesOf(list), err
	})
	if err != nil {
		return embedding.Input{}, err
	}
	in := embedding.Input{Tokens: e.model.Frame(encoded.IDs)}
	if most := e.model.ContextLength(); len(in.Tokens) > most {
		return embedding.Input{}, fmt.Errorf("%d tokens of text and media; the model takes %d: %w", len(in.Tokens), most,
			embedding.ErrTooLong)
	}
	offset := 0
	if e.model.Tokenizer().AddBOS() {
		offset = 1
	}
	for _, at := range encoded.Media {
		vectors, err := prepared[at.Part][at.Piece].Encode(ctx)
		if err != nil {
			return embedding.Input{}, err
		}
		in.Soft = append(in.Soft, embedding.Soft{First: offset + at.First, Vectors: vectors})
	}
	return in, nil
}
