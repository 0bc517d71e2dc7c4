package ollama

import "errors"

// What a caller can act on; errors wrap one of these where one applies.
var (
	// ErrNoStore: Ollama has no store where it is looked for.
	ErrNoStore = errors.New("no Ollama store")
	// ErrNotFound: the store has no such model.
	ErrNotFound = errors.New("model is not in Ollama's store")
	// ErrName: not a name that a model can have.
	ErrName = errors.New("not a model name")
	// ErrManifest: a manifest that makes no sense, or not one of a GGUF model.
	ErrManifest = errors.New("bad manifest")
	// ErrIncomplete: a file of the model is missing or has another size.
	ErrIncomplete = errors.New("model is not complete")
	// ErrDigest: a file's bytes are not those that the manifest names.
	ErrDigest = errors.New("file is damaged")
)
