// Package modelref finds the model that a user names: the built-in one, a file,
// an address, a file that was pulled before, or a model of Ollama's store.
//
// Read find.go first, then reference.go (what was found and how to open it),
// hub.go (what was pulled from Hugging Face) and list.go (all that is there).
package modelref
