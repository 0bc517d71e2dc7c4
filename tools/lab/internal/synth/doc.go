// Package synth writes models of random weights: GGUF files with the sizes, the
// tensors and the mix of types of a real Gemma 4, for measuring. Their answers
// have no sense, but they are finite, they vary, and a seed repeats them.
//
// Read shape.go for the sizes, mix.go for which tensor has which type,
// tensors.go for the list of tensors and how each is filled, towers.go for those
// of images and audio, metadata.go and vocabulary.go for the header; write.go
// joins them in a file, source.go in one that is nowhere.
package synth
