// Package multimodal lets a Gemma 4 model see pictures and hear speech: it
// turns an image or a clip into soft tokens, the vectors that stand in the
// prompt where text has token ids.
//
// Read it in the order of the data. picture and sound make pixels and mel
// frames of a file's bytes; arch knows the sizes and tensors of the two towers
// in a model file; cpu computes the towers in plain float32, in the order of
// the model; this package records the same towers on the GPU and, with Attach,
// puts the whole before a gemma4.Model.
package multimodal
