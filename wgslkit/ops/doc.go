// Package ops holds model-agnostic kernels for wgslkit: matrix products for
// every quantized type, norms, rotation, attention, gating, embedding rows,
// routing to experts and sampling.
//
// An op is a struct of buffers and numbers that a Recorder records into a
// program; its WGSL stands in wgsl/, with the formula on top. Recorders of
// width one (a decoding step) fuse an op's norms and residual sums into the
// product that follows; wider ones (a prompt) run them apart and use tiled
// products. The caller's graph is the same for both. Devices that spend longer
// on compiling than on running (Tuning.ForSlowCompiler) get kernels of their
// own, wgsl/product.wgsl and wgsl/*_small.wgsl, the same for both widths. Large GPUs
// whose subgroups multiply matrices (MatrixTuning) compute a prompt's products and an
// image's attention in float16, with float32 sums.
//
// Read kit.go, recorder.go and linear.go first; one file stands for each
// other op. Package opstest holds the suite that runs every op in every
// variant against a plain twin on the CPU.
package ops
