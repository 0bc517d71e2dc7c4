// Package gpu computes the image and audio towers with recorded programs over
// wgslkit: the twin of package cpu, with the same calls.
//
// Weights are uploaded, as the file quantizes them, when a tower is made, and
// freed by Close. The buffers between ops are sized for the largest image or
// clip so far, and reused. An encoding is submitted in parts of a few blocks, so
// that whoever else needs the device gets it in between.
//
// Read vision_graph.go and audio_graph.go beside the model's description; then
// vision.go and audio.go, which put data in and take soft tokens out; patches.go and
// frames.go, for models of the 12B kind, which have no towers; weights.go and work.go
// are what they share.
package gpu
