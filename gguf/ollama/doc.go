// Package ollama finds models in the store that Ollama keeps on disk, so that
// what was pulled once is not downloaded again. It only reads.
//
// [Find] locates the store, [Store.Resolve] turns a name such as "gemma4:e2b"
// into the files of a [Model], [Store.List] says what is there.
//
// Read name.go first (what a name is and which folder it means), then
// manifest.go (what lies there), store.go, model.go and verify.go.
//
// A store looks like this:
//
//	manifests/registry.ollama.ai/library/gemma4/e2b   JSON: the layers of the model
//	blobs/sha256-…                                    the layers, named by their digest
package ollama
