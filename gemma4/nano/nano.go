// Package nano embeds a small, real Gemma 4: 12 million trained weights with
// all parts of its big siblings (sliding and global layers, shared keys and
// values, per-layer embeddings, an image and an audio tower, Q4_K, Q6_K, F16
// and F32). It answers about capitals, sums, opposites, sounds and days, keeps
// names over turns, calls one tool, tells short stories, names coloured shapes
// and writes down spoken numbers.
//
// It is a module of its own: who brings a model does not pay for this one. The
// folder recipe, which only clones have, makes its second edition.
package nano

import (
	_ "embed"

	"github.com/gemwire/gemwire/gguf"
)

//go:embed nano.gguf
var file []byte

// Name is how commands call the built-in model.
const Name = "nano"

// Source is the model's GGUF file. The bytes are shared: they must not be changed.
func Source() gguf.Source { return gguf.Memory(file) }
