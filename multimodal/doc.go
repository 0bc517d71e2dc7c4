// Package multimodal lets a Gemma 4 model see pictures and hear speech: it
// turns an image or a clip into soft tokens, the vectors that stand in the
// prompt where text has token ids, and with Attach puts itself before a
// gemma4.Model.
//
// Read it in the order of the data. picture and sound make pixels and mel
// frames of a file's bytes; arch knows the sizes and tensors of the two towers
// in a model file, or of what stands in their place in models of the 12B kind;
// cpu computes the towers in plain float32, in the order of the model, and gpu
// with recorded programs. Here, attach.go is the whole,
// key.go, image.go, clip.go and video.go take a medium up to the towers, and towers.go
// loads those when they are needed.
package multimodal
