// Package arch knows what the image and audio towers of a Gemma 4 model are
// made of: their sizes, and which tensor of the file plays which part. Models of
// the 12B kind have no towers, but embedders of raw pixels and samples.
//
// Everything is decided here, once, when a file is opened; the towers built on
// top (package cpu, and the GPU graphs in package multimodal) ask no questions
// of their own. Sizes come from the file's metadata or from the shape of a
// tensor, and each is checked against the other. What the model's release fixes
// and no file says stands in vision.go and audio.go as constants.
//
// The towers lie in the model's one file, with keys below "gemma4.", or in an
// mmproj file beside it, with keys below "clip.", in Ollama's names or in
// llama.cpp's.
//
// Read towers.go for the whole, vision.go and audio.go for the towers, unified.go
// for the embedders that stand in their place, linear.go
// for clipped linears, and metadata.go and tensors.go for how they are read.
// input.go says what a tower takes, and holds the numbers that every
// implementation starts from.
package arch
