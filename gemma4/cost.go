package gemma4

import "github.com/gemwire/gemwire/gemma4/internal/engine"

// BytesPerToken is how many bytes of the file's weights decoding one token
// reads: all of them, but of tables that are only looked up one row, and of
// experts those that are chosen.
func (m *Model) BytesPerToken() int64 {
	all, _ := engine.BytesPerToken(m.arch)
	return all
}

// PromptOperations is how many multiplications and additions a prompt of so many tokens
// takes at least, up to the first choice: two for each weight of a matrix and token, and
// for attention two for each value of a key and of a value. Layers that share the cache
// of another are needed for the last token alone.
func (m *Model) PromptOperations(tokens int) int64 { return engine.PromptOperations(m.arch, tokens) }

// TrainOperations is the same of a training step: all layers and logits forward, and
// back for the gradients of what they read, which is as much again for weights that stay
// as they are, and twice as much for attention.
func (m *Model) TrainOperations(tokens int) int64 { return engine.TrainOperations(m.arch, tokens) }
