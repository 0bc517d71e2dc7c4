// Package kernel holds the loops that computing on a CPU spends its time in:
// products with weights, as float32 or as a file stores them, sums of keys and
// values, norms and activations.
//
// There are two sets with the same names. The plain one is Go, over gonum's
// vector kernels, and the twin of the other. On js/wasm, the build tag
// gemwire_simd takes WebAssembly SIMD instead: functions imported from a module
// that lies in the folder wasm, works on Go's own memory, and has to be given to
// the program by who starts it (wasm/link.js). Without the tag nothing is needed.
//
// Read kernel.go for what there is, plain.go for the formulas, simd_js.go for
// how the imports are called, and wasm/src for the kernels themselves.
package kernel
