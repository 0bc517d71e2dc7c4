// Package nano embeds a small, real Gemma 4: 48 million trained weights in 39 MB
// with all parts of its big siblings (sliding and global layers, shared keys and
// values, per-layer embeddings, an image and an audio tower, K blocks, Q8_0, F16
// and F32). It answers easy questions of every day, keeps names over turns, fills
// in tools and JSON, tells short stories, says what simple pictures show, writes
// down short sentences, and often says so when it does not know. It makes
// mistakes. For anything else there is a real Gemma:
//
//	gemwire pull hf.co/ggml-org/gemma-4-E2B-it-GGUF
//
// It is a module of its own: who brings a model does not pay for this one. The
// folder recipe, which only clones have, makes it.
package nano

import (
	_ "embed"

	"github.com/gemwire/gemwire/gemma4/nano/internal/instead"
	"github.com/gemwire/gemwire/gguf"
)

//go:embed nano.gguf
var file []byte

// Name is how commands call the built-in model.
const Name = "nano"

// Source is the model's GGUF file. The bytes are shared: they must not be changed.
func Source() gguf.Source {
	if instead.File != nil {
		return gguf.Memory(instead.File)
	}
	return gguf.Memory(file)
}
