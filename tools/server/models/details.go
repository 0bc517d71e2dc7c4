package models

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	towers "github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/tools/internal/modelref"
)

// Details is what a model's file says of it.
type Details struct {
	Architecture string
	Values       int64  // weights, all together
	Quantization string // Q4_K_M
	Context      int    // tokens at most
	Embedding    int
	Images       bool
	Audio        bool
	Template     string
	Meta         map[string]any // without the vocabulary
	Problem      error          // why it cannot be run
}

// Size is the number of weights as people say it: 4.6B.
func (d Details) Size() string {
	switch v := float64(d.Values); {
	case v >= 1e9:
		return strings.Replace(fmt.Sprintf("%.1fB", v/1e9), ".0B", "B", 1)
	case v >= 1e6:
		return fmt.Sprintf("%.2fM", v/1e6)
	default:
		return fmt.Sprintf("%.2fK", v/1e3)
	}
}

// Capabilities are what the model can do, in Ollama's words.
func (d Details) Capabilities() []string {
	if d.Architecture == arch.EncoderName {
		return []string{"embedding"}
	}
	list := []string{"completion"}
	if d.Images {
		list = append(list, "vision")
	}
	if d.Audio {
		list = append(list, "audio")
	}
	return append(list, "tools", "thinking")
}

// detailsCache keeps what was read, by digest.
type detailsCache struct {
	mu   sync.Mutex
	kept map[string]Details
}

// maxDetails bounds how many are kept.
const maxDetails = 256

// Details reads a model's header.
func (l *Library) Details(ctx context.Context, e Entry) (Details, error) {
	if e.Err != nil {
		return Details{}, e.Err
	}
	key := e.key() + e.Digest
	l.details.mu.Lock()
	defer l.details.mu.Unlock()
	if d, ok := l.details.kept[key]; ok {
		return d, nil
	}
	file, err := e.ref.Open(ctx, modelref.OpenOptions{})
	if err != nil {
		return Details{}, err
	}
	defer file.Close()
	d := describe(file)
	if len(l.details.kept) >= maxDetails || l.details.kept == nil {
		l.details.kept = map[string]Details{}
	}
	l.details.kept[key] = d
	return d, nil
}

func describe(file *gguf.File) Details {
	d := Details{Architecture: file.Architecture(), Meta: map[string]any{}}
	bytes := map[string]int64{}
	for _, t := range file.Tensors {
		d.Values += int64(t.Elements())
		bytes[t.Type.String()] += t.Size
	}
	if fileType, err := file.Meta.Uint32("general.file_type"); err == nil {
		d.Quantization = fileTypes[fileType]
	}
	if d.Quantization == "" { // the type that most of the file is of
		for name, n := range bytes {
			if n > bytes[d.Quantization] {
				d.Quantization = name
			}
		}
	}
	d.Template, _ = file.Meta.String("tokenizer.chat_template")
	for _, key := range file.Meta.Keys() {
		if value, ok := plain(file.Meta, key); ok {
			d.Meta[key] = value
		}
	}
	d.Meta["general.parameter_count"] = d.Values
	if arch.IsEncoder(file.Meta) {
		d.encoder(file)
		return d
	}
	model, err := arch.Open(file)
	if err != nil {
		d.Problem = err
		return d
	}
	d.Context, d.Embedding = model.Config.ContextLength, model.Config.EmbeddingLength
	if t, err := towers.Open(file, model.Config.EmbeddingLength); err == nil {
		d.Images, d.Audio = t.Vision != nil, t.Audio != nil
	}
	return d
}

// encoder describes a model for embeddings.
func (d *Details) encoder(file *gguf.File) {
	model, err := arch.OpenEncoder(file)
	if err != nil {
		d.Problem = err
		return
	}
	d.Context, d.Embedding = model.Config.ContextLength, model.OutputLength
}

// plain is a value of the metadata that is no list and no long text.
func plain(m gguf.Metadata, key string) (any, bool) {
	if text, err := m.String(key); err == nil {
		return text, len(text) <= 1000
	}
	if b, err := m.Bool(key); err == nil {
		return b, true
	}
	if n, err := m.Uint64(key); err == nil {
		return n, true
	}
	if n, err := m.Float64(key); err == nil {
		return n, true
	}
	return nil, false
}

// fileTypes are the names of llama.cpp's file types (llama.h, enum llama_ftype).
var fileTypes = map[uint32]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
	13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
	21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
	29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16",
}
