// Package arch knows what a Gemma 4 text model, or one of Gemma 3, is made of: its sizes,
// which layer is of which kind, and which tensor of the file plays which part.
//
// Everything is decided here, once, when a file is opened; the graphs built on
// top (package cpu, and the GPU graph in package gemma4) ask no questions of
// their own. No size is built in: each comes from the file's metadata or from
// the shape of a tensor, and is checked against the other.
//
// Read config.go for the sizes, gemma3.go for those of that family, metadata.go for how
// they are read, layers.go
// for the per-layer answers, model.go for the tensors, and resolve.go for their
// names and shapes. assistant.go does the same for the small models that draft for a
// larger one.
package arch
