// Package flagset has the flags and arguments that several commands share: sampling, the form of an answer, media,
// adapters, training examples, and prompts that come as arguments or from standard input.
//
// Each kind of flags is a struct with Register, which declares them, and Check, which says what is wrong with them.
// stored.go sets sampling flags from what Ollama's store keeps with a model.
package flagset
