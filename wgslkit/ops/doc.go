// Package ops holds model-agnostic kernels for wgslkit: matrix products for
// every quantized type, norms, rotation, attention, gating, embedding rows,
// routing to experts and sampling.
//
// An op is a struct of buffers and numbers that a Recorder records into a program. This
// package is the face of all of them; each kind has a room of its own below, with its WGSL
// beside its Go, the formula on top:
//
//	record     the kit, its tuning, the recorder: what all rooms build on
//	weights    quantized matrices: layouts, upload, rows looked up
//	rowwise    norms, sums, gates, copies of rows
//	rope       rotations
//	kvcache    the cache of keys and values
//	attention  over that cache
//	product    matrices by vectors: eight kernels and their choice
//	expert     routing, products with chosen experts
//	tower      convolutions, grids and attention of image and audio encoders
//	sampler    the choice of the next token
//	backward   training: gradients, loss, optimizer
//
// A room imports only those above it in this list, and so does its WGSL.
//
// Recorders of width one (a decoding step) fuse an op's norms and residual sums into the
// product that follows; wider ones (a prompt) run them apart and use tiled products. The
// caller's graph is the same for both. Devices that spend longer on compiling than on
// running (Tuning.ForSlowCompiler) get kernels of their own, the same for both widths.
// Large GPUs whose subgroups multiply matrices (MatrixTuning) compute a prompt's products
// and an image's attention in float16, with float32 sums.
//
// Read record/kit.go, record/recorder.go and product/linear.go first. Package opstest
// holds the suite that runs every op in every variant against a plain twin on the CPU.
package ops
