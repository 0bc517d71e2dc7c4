// Package cpu computes the image and audio towers of a Gemma 4 model in float32:
// the path for machines without a GPU, and the twin that the GPU graphs are
// compared with.
//
// It is written to be checked by eye against the description of the model: one
// file for each step, plain loops, the steps in the order in which an image or a
// clip passes them. Sums that many terms go into (norms, softmax) are kept in
// float64. Weights are decoded when they are used and not kept; an image goes
// through a block in batches of patches, so that beside its keys and values
// memory does not grow with it.
//
// For images read vision.go, then patch_embedding.go, vision_block.go,
// vision_attention.go, rotation2d.go, pool.go and projector.go; for clips
// audio.go, then subsample.go, conformer_block.go, relative_attention.go,
// light_conv.go and projector.go. patches.go and frames.go are what models of the
// 12B kind have instead of towers. linear.go holds what both are made of.
package cpu
